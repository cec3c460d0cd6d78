// What is around every screen: the names of the screens, NOW / NEXT / QUEUED, the connection, the theme.
// @ts-check

import { html, useEffect, useMemo, useState } from './preact.js';
import { choose } from './ask.js';
import { isGoing, isOn, tables, useKeys } from './keys.js';
import { Order } from './order.js';
import { openPalette } from './palette.js';
import { back, go, list, route, SCREENS, to, toTask } from './route.js';
import { connection, heardAt, listNames, lists, taskOf } from './state.js';
import { tryNow } from './stream.js';
import { nextTheme, theme } from './theme.js';
import { undo, undoable } from './verbs.js';
import { waiting } from './waits.js';
import { age, clock, plain } from './words.js';

/** @typedef {import('./route.js').Screen} Screen */

/** @type {Record<Screen, { title: string, key: string }>} */
export const TITLES = {
  board: { title: 'Board', key: 'b' },
  list: { title: 'List', key: 'l' },
  graph: { title: 'Graph', key: 'g' },
  inbox: { title: 'Inbox', key: 'i' },
  fleet: { title: 'Fleet', key: 'f' },
  run: { title: 'Run', key: 'r' },
  landing: { title: 'Landing', key: 'a' },
  messages: { title: 'Messages', key: 'm' },
  files: { title: 'Files', key: 'e' },
  settings: { title: 'Settings', key: 's' },
};
/** The order of the bar on a narrow screen. @type {Screen[]} */
const NARROW_FIRST = ['inbox', 'board', 'fleet', 'run'];

async function more() {
  const rest = SCREENS.filter((it) => !NARROW_FIRST.includes(it));
  const choices = rest.map((it) => ({ key: TITLES[it].key, label: TITLES[it].title }));
  const key = await choose({ title: 'More', choices: [...choices, { key: 't', label: `Theme: ${theme.peek()}` }, { key: '?', label: 'Keys' }, { key: 'p', label: 'Everything else…' }] });
  const screen = rest.find((it) => TITLES[it].key === key);
  if (screen !== undefined) go(to(screen));
  if (key === 't') nextTheme();
  if (key === '?') void help();
  if (key === 'p') openPalette('');
}

export function Header() {
  const { screen } = route.value;
  const n = waiting.value.length;
  return html`
    <header>
      <div class="top">
        <label class="lists"
          ><span aria-hidden="true">⚑</span><span class="unseen">List</span>
          <select value=${list.value ?? ''} onChange=${(/** @type {Event} */ event) => go(`/lists/${encodeURIComponent(/** @type {HTMLSelectElement} */ (event.target).value)}`)}>
            ${listNames.value.map((name) => html`<option key=${name} value=${name}>${name} (${lists.get(name)?.tasks.size ?? 0})</option>`)}
          </select>
        </label>
        <nav class="screens" aria-label="Screens">
          ${SCREENS.map(
            (it) => html`
              <a key=${it} href=${to(it)} class=${NARROW_FIRST.includes(it) ? '' : 'later'} aria-current=${screen === it ? 'page' : undefined}>
                ${TITLES[it].title}${it === 'inbox' && n > 0 && html` <span class="waits" aria-label=${`${n} wait`}>${n}</span>`}
              </a>
            `,
          )}
          <button type="button" class="more quiet" onClick=${more}>More</button>
        </nav>
        <button type="button" class="quiet find" onClick=${() => openPalette('')}>⌕ <kbd>Ctrl K</kbd></button>
        <button type="button" class="quiet theme" onClick=${nextTheme} aria-label=${`Theme: ${theme.value}`}>${{ system: '◑', dark: '☾', light: '☀' }[theme.value]}</button>
      </div>
      <${Now} />
    </header>
  `;
}

/** NOW / NEXT / QUEUED of the list. */
function Now() {
  const name = list.value ?? '';
  const isKnown = listNames.value.includes(name);
  const order = useMemo(() => new Order({ list: name, keep: (task) => task.state === 'pending' || task.claim !== null, order: '', allDone: true }), [name, isKnown]);
  useEffect(() => () => order.end(), [order]);
  void order.drawn.value;
  const { ready, blocked, claimed, running } = order.lanes.of;
  const held = [...running, ...claimed];
  return html`
    <dl class="now">
      <div><dt>NOW <b>${held.length}</b></dt><dd>${held.slice(0, 4).map(({ id }) => html`<${Held} key=${id} list=${name} id=${id} />`)}</dd></div>
      <div><dt>NEXT <b>${ready.length}</b></dt><dd>${ready.slice(0, 4).map(({ id }) => html`<a key=${id} href=${toTask(name, id)}>#${id}</a>`)}</dd></div>
      <div><dt>QUEUED <b>${ready.length + blocked.length}</b></dt><dd>${blocked.length > 0 && `${blocked.length} blocked`}</dd></div>
    </dl>
  `;
}

/** @param {{ list: string, id: string }} of */
function Held({ list: name, id }) {
  const task = taskOf(name, id);
  if (task === undefined) return null;
  return html`<a href=${toTask(name, id)}>${plain(task.claim?.by ?? '')} #${id} <span class="title">${plain(task.subject)}</span> <span class="dim">${age(task.claim?.at)}</span></a>`;
}

export function Footer() {
  const isLive = connection.value === 'live';
  const last = undoable.value;
  return html`
    <footer>
      <span class=${isLive ? 'live' : 'lost'}>${isLive ? '● live' : connection.value === 'loading' ? '◌ connecting' : '◌ reconnecting'}${heardAt.value > 0 && ` · ${clock(heardAt.value)}`}</span>
      ${isGoing.value && html`<span class="going"><kbd>g</kbd> ${SCREENS.map((it) => html`<span key=${it}><kbd>${TITLES[it].key}</kbd> ${TITLES[it].title} </span>`)}</span>`}
      ${last !== null && html`<button type="button" class="quiet undo" onClick=${undo} disabled=${!isLive}>Undo: ${last.text} <kbd>u</kbd></button>`}
      <button type="button" class="quiet end" onClick=${help}><kbd>?</kbd> keys</button>
    </footer>
  `;
}

/** So long without a stream, and the person is told how to start the daemon. */
const GONE = 30_000;

export function Lost() {
  const [isGone, setGone] = useState(false);
  const isLost = connection.value === 'lost';
  useEffect(() => {
    if (!isLost) return setGone(false);
    const timer = setTimeout(() => setGone(true), GONE);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (!isLost || !isGone) return null;
  return html`<p class="banner" role="alert">The daemon does not answer: <code>flagpost daemon up</code> <button type="button" onClick=${tryNow}>Try now</button></p>`;
}

/** The whole page for whoever is not signed in. */
export function Refused() {
  return html`
    <main id="main" tabindex="-1" class="page">
      <h1>Flagpost</h1>
      <p>This browser is not signed in, or not any more. In the terminal:</p>
      <pre>flagpost board</pre>
    </main>
  `;
}

/** The keys that act now, each to be chosen; one choice turns single keys off. */
async function help() {
  const all = tables.peek().flatMap(({ title, keys }) => [...Map.groupBy(keys, ({ does }) => does).values()].map((same) => ({ title, same })));
  const rows = all.map(({ title, same }) => ({ key: same[0]?.key ?? '', shown: same.map(({ key, shown }) => shown ?? key).join(' '), label: same[0]?.does ?? '', about: title }));
  const choice = await choose({
    title: 'Keys',
    text: isOn.peek() ? 'Single keys act outside fields.' : 'Single keys are off.',
    choices: [{ key: '!', label: isOn.peek() ? 'Turn single keys off' : 'Turn single keys on' }, ...rows],
  });
  if (choice === '!') isOn.value = !isOn.peek();
  else tables.peek().flatMap(({ keys }) => keys).find(({ key }) => key === choice)?.run(new KeyboardEvent('keydown'));
}

/** The keys of every screen. */
export function useFrameKeys() {
  useKeys('Everywhere', () => [
    { key: '?', does: 'these keys', run: () => void help() },
    { key: 'Ctrl-k', shown: 'Ctrl K', does: 'palette', run: () => openPalette('') },
    { key: 't', does: 'theme', run: nextTheme },
    { key: 'Escape', shown: 'Esc', does: 'back', run: back },
    ...SCREENS.map((it) => ({ key: `g ${TITLES[it].key}`, does: TITLES[it].title, run: () => go(to(it)) })),
  ], []);
}
