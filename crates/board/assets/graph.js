// The graph: which task waits for which, drawn as the daemon laid it out, and the same as an indented tree.
//
// A card follows its own task. The layout is asked for again when what it is made of changes, at most once a
// second.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get } from './api.js';
import { NoTasks } from './board.js';
import { useKeys } from './keys.js';
import { go, list as listNow, route, toTask, withParts } from './route.js';
import { canAct, keepOrder, lists, repositoryOf, taskOf } from './state.js';
import { add } from './verbs.js';
import { useView } from './view.js';
import { count, isNarrow, plain, STATES, widthOf } from './words.js';

/** @typedef {{ task: string | null, group: string | null, tasks: number, x: number, y: number, critical: boolean }} Placed */
/** @typedef {{ from: number, to: number, path: string, kind: 'plain' | 'critical' | 'closing' }} Edge */
/** @typedef {{ width: number, height: number, card_width: number, card_height: number, cards: Placed[], edges: Edge[], unknown: { task: string, waits_for: string }[], cycle: string[] | null }} Layout */
/** @typedef {{ list: string, root: string, group: string, isOpen: boolean }} Wanted what the address asks for */

const PAUSE = 1000;

/** @param {Wanted} wanted @returns {{ layout: Layout | null, fault: string }} */
function useLayout({ list, root, group, isOpen }) {
  const [answer, setAnswer] = useState({ layout: /** @type {Layout | null} */ (null), fault: '' });
  const isLive = canAct.value;
  useEffect(() => {
    if (!isLive) return;
    let askedAt = 0;
    let asked = 0;
    let timer = 0;
    const ask = () => {
      const mine = ++asked;
      timer = 0;
      askedAt = Date.now();
      get('/v1/graph', { repo: repositoryOf(list)?.id, list, root, group, open: isOpen ? 'true' : null })
        .then((layout) => mine === asked && setAnswer({ layout, fault: '' }))
        .catch(({ status, message }) => mine === asked && setAnswer((was) => ({ layout: status === 0 ? was.layout : null, fault: message })));
    };
    /** What the layout is made of, of each task. @type {Map<string, string>} */
    const seen = new Map();
    /** @param {Task} task */
    const isOther = ({ id, state, blocked_by, group: of, estimate_minutes }) => {
      const now = JSON.stringify([state === 'completed' || state === 'cancelled', blocked_by, of, estimate_minutes]);
      const was = seen.get(id);
      seen.set(id, now);
      return was !== now;
    };
    for (const task of lists.get(list)?.tasks.values() ?? []) isOther(task.peek());
    const end = keepOrder((name, tasks, removed) => {
      if (name !== list) return;
      for (const id of removed) seen.delete(id);
      const isMoved = tasks.filter(isOther).length + removed.length > 0;
      if (isMoved && timer === 0) timer = setTimeout(ask, Math.max(0, askedAt + PAUSE - Date.now()));
    });
    ask();
    return () => {
      end();
      clearTimeout(timer);
      asked = -1;
    };
  }, [list, root, group, isOpen, isLive]);
  return answer;
}

/** The part of the address that opens a group. @param {Wanted} wanted @param {string} group */
const toGroup = ({ list, group: here }, group) =>
  group === here ? `/lists/${encodeURIComponent(list)}#${new URLSearchParams({ screen: 'list', q: `group:"${group}"` })}` : withParts({ screen: 'graph', group });

export function Graph() {
  const { query, task: opened } = route.value;
  /** @type {Wanted} */
  const wanted = { list: listNow.value ?? '', root: query.get('root') ?? '', group: query.get('group') ?? '', isOpen: query.has('open') };
  const { list, root, group, isOpen } = wanted;
  const { layout, fault } = useLayout(wanted);
  const isDrawn = !isNarrow.value;
  const view = useView(layout, `${list} ${root} ${group} ${isOpen} ${isDrawn}`);
  useKeys('Graph', () => [
    { key: 'c', does: 'new task', run: () => void add(list) },
    ...(isDrawn ? view.keys : []),
  ], [list, isDrawn]);
  if (layout !== null && (lists.get(list)?.tasks.size ?? 0) === 0) return html`<${NoTasks} list=${list} />`;
  const cards = layout?.cards ?? [];
  const marked = cards.filter(({ critical }) => critical).length;
  /** @param {Record<string, string>} parts */
  const show = (parts) => go(withParts({ screen: 'graph', ...parts }));
  return html`
    <main id="main" tabindex="-1" class="graph" aria-busy=${layout === null && fault === ''}>
      <div class="bar">
        <h1>Graph <span class="dim">${layout !== null && count(cards.reduce((n, { tasks }) => n + tasks, 0), 'task')}${marked > 1 && html` · <span class="critical">critical path of ${marked}</span>`}</span></h1>
        <label><input type="checkbox" checked=${isOpen} onChange=${() => show({ open: isOpen ? '' : '1' })} /> Only open</label>
        <label>From task <input id="root" size="5" placeholder="all" value=${root} onChange=${(/** @type {Event} */ event) => show({ root: /** @type {HTMLInputElement} */ (event.target).value.replace('#', '').trim() })} /></label>
        ${opened !== null && opened !== root && html`<a href=${withParts({ screen: 'graph', root: opened })}>From #${opened} on</a>`}
        ${group !== '' && html`<span>Group ${plain(group)} <a href=${withParts({ group: '' })}>All groups</a></span>`}
        ${isDrawn && cards.length > 0 && html`<span class="zoom">${view.keys.slice(0, 3).map(({ key, does, run }) => html`<button key=${key} type="button" aria-label=${does} title=${does} onClick=${run}>${key === '0' ? 'Fit' : key}</button>`)}</span>`}
      </div>
      ${fault !== '' && html`<p class="warn">${fault}</p>`}
      ${layout !== null && html`<${Faults} list=${list} layout=${layout} />`}
      ${layout !== null && cards.length === 0 && html`<p class="hint">${isOpen ? 'No open task is here.' : 'No task is here.'} <a href=${withParts({ screen: 'graph', open: '', root: '', group: '' })}>All tasks</a></p>`}
      ${layout !== null && cards.length > 0 && html`
        <div class="drawn">
          ${isDrawn && html`<${Drawing} wanted=${wanted} layout=${layout} view=${view} />`}
          <section class="tree" aria-label="As a tree"><${Tree} wanted=${wanted} layout=${layout} /></section>
        </div>
      `}
    </main>
  `;
}

/** So many unknown blockers are named. */
const NAMED = 5;

/** What is wrong with the plan, in words. @param {{ list: string, layout: Layout }} of */
function Faults({ list, layout: { unknown: all, cycle } }) {
  // Of a group alone, those of other groups are not known.
  const unknown = all.filter((it) => !lists.get(list)?.tasks.has(it.waits_for));
  const link = (/** @type {string} */ id) => html`<a href=${toTask(list, id)}>#${plain(id)}</a>`;
  return html`
    ${cycle !== null && html`<p class="warn">These tasks wait for each other, so none of them can begin: ${cycle.map((id, n) => html`${n > 0 && ' → '}${link(id)}`)}</p>`}
    ${unknown.length > 0 && html`<p class="warn">Some wait for what is not in this list: ${unknown.slice(0, NAMED).map(({ task, waits_for: on }, n) => html`${n > 0 && ' · '}${link(task)} for #${plain(on)}`)}${unknown.length > NAMED && ` · and ${unknown.length - NAMED} more`}</p>`}
  `;
}

/** What is said of a card: of a task its state, of a group its number. @param {Wanted} wanted @param {Placed} card */
function said(wanted, { task: id, group, tasks, critical }) {
  const task = id === null ? undefined : taskOf(wanted.list, id);
  if (id === null) return { task, href: group === null ? undefined : toGroup(wanted, group), sign: '', name: count(tasks, 'task'), about: '', subject: group === null ? 'without a group' : plain(group) };
  const { sign, word } = STATES[task?.state ?? 'pending'];
  const who = task?.claim?.by ?? task?.owner ?? null;
  const state = task?.state === 'pending' && !task.ready ? 'blocked' : word;
  const about = [state, ...(who === null ? [] : [plain(who)]), ...(critical ? ['critical'] : [])].join(' · ');
  return { task, href: toTask(wanted.list, id), sign, name: `#${id}`, about, subject: plain(task?.subject ?? '') };
}

/** Columns of a card. */
const COLUMNS = 27;

/** How much of a text a line of a card takes. @param {string} text */
function fits(text) {
  let used = 0;
  let taken = 0;
  for (const it of text) {
    used += widthOf(it);
    if (used > COLUMNS) break;
    taken += it.length;
  }
  return taken;
}

/** A text in two lines. @param {string} text */
function rows(text) {
  const most = fits(text);
  if (most === text.length) return [text];
  const blank = text.lastIndexOf(' ', most);
  const rest = text.slice(blank > 0 ? blank : most).trimStart();
  const taken = fits(rest);
  return [text.slice(0, blank > 0 ? blank : most), taken === rest.length ? rest : rest.slice(0, taken).replace(/.$/u, '…')];
}

/** @param {{ wanted: Wanted, card: Placed, size: { width: number, height: number }, show: (card: Placed) => void }} of */
function Card({ wanted, card, size, show }) {
  const { task, href, sign, name, about, subject } = said(wanted, card);
  const state = task?.state ?? 'pending';
  const isBlocked = state === 'pending' && task?.ready === false;
  return html`
    <a
      class=${`node${card.critical ? ' critical' : ''}${isBlocked ? ' blocked' : ''}`}
      href=${href}
      data-node=${card.task ?? undefined}
      data-state=${task?.state}
      aria-current=${card.task !== null && card.task === route.value.task ? 'true' : undefined}
      transform=${`translate(${card.x} ${card.y})`}
      style=${{ '--of': `var(--${state})`, '--on': `var(--on-${state})` }}
      onFocus=${(/** @type {FocusEvent} */ { target }) => target instanceof Element && target.matches(':focus-visible') && show(card)}
    >
      <title>${`${name} ${about} ${subject}`}</title>
      <rect ...${size} rx="8" />
      <svg ...${size}>
        <text x="12" y="22"><tspan class="sign">${sign}</tspan> <tspan class="name">${name}</tspan> <tspan class="dim">${about}</tspan></text>
        ${rows(subject).map((row, n) => html`<text key=${n} x="12" y=${42 + 17 * n}>${row}</text>`)}
      </svg>
    </a>
  `;
}

/** @param {{ wanted: Wanted, layout: Layout, view: ReturnType<typeof useView> }} of */
function Drawing({ wanted, layout, view }) {
  const { width, height, card_width, card_height, cards, edges } = layout;
  const kinds = ['plain', 'closing', 'critical'];
  return html`
    <div ref=${view.place} class="window" role="group" aria-label="The drawing" ...${view.pointer}>
      <svg width=${width} height=${height}>
        <defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10Z" /></marker></defs>
        ${kinds.map((kind) => edges.filter((it) => it.kind === kind).map(({ from, to, path }) => html`<path key=${`${from} ${to}`} class=${`edge ${kind}`} d=${path} marker-end="url(#arrow)" />`))}
        ${cards.map((card) => html`<${Card} key=${card.task ?? `of ${card.group}`} wanted=${wanted} card=${card} size=${{ width: card_width, height: card_height }} show=${view.show} />`)}
      </svg>
    </div>
  `;
}

/** What comes after what, each card once: below the last one that it waits for. @param {Layout} layout */
function branches({ cards, edges }) {
  /** @type {Map<number, number>} */
  const above = new Map();
  const xOf = (/** @type {number | undefined} */ n) => (n === undefined ? -1 : cards[n]?.x ?? -1);
  for (const { from, to, kind } of edges) if (kind !== 'closing' && from !== to && xOf(from) > xOf(above.get(to))) above.set(to, from);
  return Map.groupBy(cards.keys(), (n) => above.get(n) ?? -1);
}

/** So deep it is indented; what comes after follows below. */
const DEEPEST = 6;

/** @param {{ wanted: Wanted, layout: Layout }} of */
function Tree({ wanted, layout }) {
  const below = branches(layout);
  /** @param {number} at @param {number} depth @returns {unknown[]} */
  const leaves = (at, depth) =>
    (below.get(at) ?? []).flatMap((n) => {
      const after = leaves(n, Math.min(DEEPEST, depth + 1));
      const isNested = depth < DEEPEST && after.length > 0;
      const leaf = html`<${Leaf} key=${n} wanted=${wanted} card=${layout.cards[n]} isBelow=${depth === DEEPEST}>${isNested && html`<ul>${after}</ul>`}<//>`;
      return isNested ? [leaf] : [leaf, ...after];
    });
  return html`<ul>${leaves(-1, 0)}</ul>`;
}

/** @param {{ wanted: Wanted, card: Placed, isBelow: boolean, children?: unknown }} of */
function Leaf({ wanted, card, isBelow, children }) {
  const { task, href, sign, name, about, subject } = said(wanted, card);
  const waits = task?.blocked_by ?? [];
  const words = html`${name} ${subject}`;
  return html`
    <li>
      ${sign !== '' && html`<span class=${`sign ${task?.state}`} aria-hidden="true">${sign}</span> `}${href === undefined ? words : html`<a href=${href}>${words}</a>`}
      <span class="dim"> ${about}${waits.length > (isBelow ? 0 : 1) && ` · waits for ${waits.map((id) => `#${plain(id)}`).join(' ')}`}</span>
      ${children}
    </li>
  `;
}
