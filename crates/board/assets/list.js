// The list: tasks as rows, sorted by a column. Only the rows in sight are in the page, and columns that no task
// uses are left out. Marked rows take a verb together.
// @ts-check

import { html, signal, useEffect, useLayoutEffect, useMemo, useRef } from './preact.js';
import { isAiming } from './aim.js';
import { current } from './card.js';
import { keepOf } from './filter.js';
import { useKeys } from './keys.js';
import { padded } from './lanes.js';
import { say } from './notices.js';
import { Order } from './order.js';
import { go, list as listNow, route, toTask, withParts } from './route.js';
import { pixels, useSight } from './sight.js';
import { lists, taskOf } from './state.js';
import { add, menu, menuOfAll, undo } from './verbs.js';
import { age, count, plain, STATES } from './words.js';

/** @typedef {{ name: string, title: string, of: (task: Task) => string, key?: (task: Task) => string }} Column */

const PRIORITIES = ['critical', 'high', null, 'low'];
/** @type {Column[]} */
const COLUMNS = [
  { name: 'id', title: '#', of: ({ id }) => `#${id}`, key: ({ id }) => padded(id) },
  { name: 'state', title: 'State', of: ({ state, ready }) => `${STATES[state].sign} ${state === 'pending' && !ready ? 'blocked' : STATES[state].word}` },
  { name: 'subject', title: 'Subject', of: ({ subject }) => plain(subject) },
  { name: 'owner', title: 'Owner', of: ({ claim, owner }) => plain(claim?.by ?? owner ?? '') },
  { name: 'group', title: 'Group', of: ({ group }) => plain(group ?? '') },
  { name: 'priority', title: 'Priority', of: ({ priority }) => priority ?? '', key: ({ priority }) => String(PRIORITIES.indexOf(priority === 'medium' ? null : priority)) },
  { name: 'due', title: 'Due', of: ({ due }) => due ?? '', key: ({ due }) => due ?? '9999' },
  { name: 'age', title: 'Age', of: ({ added_at }) => age(added_at), key: ({ added_at }) => added_at ?? '' },
];
/** The height of a row in rem; screens.css says the same. */
const HEIGHT = 2.2;
/** The marked rows, by their ids. @type {import('./preact.js').Signal<Set<string>>} */
const marks = signal(new Set());
/** The row that the focus is still to be brought to. @type {import('./preact.js').Signal<string | null>} */
const wanted = signal(null);

/** @param {string} id */
function mark(id) {
  const now = new Set(marks.peek());
  if (!now.delete(id)) now.add(id);
  marks.value = now;
  say(`#${id} ${now.has(id) ? 'marked' : 'not marked'}, ${now.size} in all.`);
}

export function List() {
  const { query } = route.value;
  const list = listNow.value ?? '';
  const text = query.get('q') ?? '';
  const sort = query.get('by') ?? 'id';
  const isDown = query.has('down');
  const isKnown = lists.has(list);
  const order = useMemo(() => {
    const keep = keepOf(text);
    const by = COLUMNS.find(({ name }) => name === sort) ?? COLUMNS[0];
    const keyOf = by?.key ?? by?.of ?? (() => '');
    return new Order({ list, keep, order: 'number', allDone: true, place: (task) => (keep(task) ? { lane: 'ready', key: `${keyOf(task)} ${padded(task.id)}` } : null) });
  }, [list, text, sort, isKnown]);
  useEffect(() => () => order.end(), [order]);
  const isFrozen = isAiming.value;
  useEffect(() => order.freeze(isFrozen), [order, isFrozen]);
  useEffect(() => () => void (marks.value = new Set()), [list]);
  void order.drawn.value;

  const rows = order.lanes.of.ready;
  const n = rows.length;
  const at = (/** @type {number} */ place) => rows[isDown ? n - 1 - place : place];
  const placeOf = (/** @type {string | null} */ id) => {
    const found = rows.findIndex((it) => it.id === id);
    return found < 0 ? -1 : isDown ? n - 1 - found : found;
  };
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const height = pixels(HEIGHT);
  const { first, last, look, bring } = useSight(box, height, n);
  void wanted.value;
  useLayoutEffect(() => {
    const id = wanted.peek();
    if (id === null) return;
    bring(placeOf(id), height);
    const row = document.getElementById(`row-${id}`);
    if (row === null) return look();
    wanted.value = null;
    row.focus({ preventScroll: true });
  });
  useEffect(() => void box.current?.scrollTo(0, 0), [order, isDown]);

  const tasks = lists.get(list)?.tasks;
  const all = useMemo(() => rows.flatMap(({ id }) => tasks?.get(id)?.peek() ?? []), [order, n]);
  const isUsed = useMemo(() => new Set(COLUMNS.filter(({ name, of }) => name === 'id' || all.some((task) => of(task) !== '')).map(({ name }) => name)), [all]);
  const shown = Array.from({ length: last - first }, (_, k) => at(first + k)).flatMap((it) => tasks?.get(it?.id ?? '')?.value ?? []);
  const used = COLUMNS.filter(({ name, of }) => isUsed.has(name) || shown.some((task) => of(task) !== ''));
  const marked = rows.filter(({ id }) => marks.value.has(id)).length;

  const step = (/** @type {number} */ by) => {
    const next = at(Math.max(0, Math.min(n - 1, placeOf(current.peek()) + by)));
    if (next !== undefined) wanted.value = next.id;
  };
  const onMarked = async () => {
    const chosen = rows.filter(({ id }) => marks.peek().has(id)).flatMap(({ id }) => taskOf(list, id) ?? []);
    const task = taskOf(list, current.peek() ?? '');
    if (chosen.length > 0) await menuOfAll(list, chosen);
    else if (task !== undefined) await menu(list, task);
  };
  const markAll = () => {
    marks.value = new Set(marks.peek().size > 0 ? [] : rows.map(({ id }) => id));
    say(`${count(marks.peek().size, 'task')} marked.`);
  };
  useKeys('List', () => [
    { key: 'j', does: 'next task', run: () => step(1) },
    { key: 'ArrowDown', shown: '↓', does: 'next task', run: () => step(1) },
    { key: 'k', does: 'task before', run: () => step(-1) },
    { key: 'ArrowUp', shown: '↑', does: 'task before', run: () => step(-1) },
    { key: 'Home', does: 'first task', run: () => step(-1e9) },
    { key: 'End', does: 'last task', run: () => step(1e9) },
    { key: 'x', does: 'mark', run: () => {
      const id = current.peek();
      if (id !== null && placeOf(id) >= 0) mark(id);
    } },
    { key: 'X', does: 'mark all that are listed, or none', run: markAll },
    { key: '.', does: 'actions, of all that are marked', run: () => void onMarked() },
    { key: 'm', does: 'actions, of all that are marked', run: () => void onMarked() },
    { key: '/', does: 'filter', run: () => document.getElementById('filter')?.focus() },
    { key: 'c', does: 'new task', run: () => void add(list) },
    { key: 'u', does: 'undo', run: () => void undo() },
  ], [order, isDown, list]);

  const head = (/** @type {Column} */ { name, title }) => {
    const isBy = name === sort;
    const to = withParts({ screen: 'list', by: name, down: isBy && !isDown ? '1' : '' });
    return html`<th key=${name} scope="col" class=${`of-${name}`} aria-sort=${isBy ? (isDown ? 'descending' : 'ascending') : undefined}><a href=${to}>${title}${isBy ? (isDown ? ' ↓' : ' ↑') : ''}</a></th>`;
  };
  const stop = shown.some(({ id }) => id === current.value) ? current.value : shown[Math.min(2, first)]?.id;
  const cell = (/** @type {Task} */ task) => (/** @type {Column} */ { name, of }) =>
    html`<td key=${name} class=${`of-${name} ${name === 'state' ? task.state : ''}`}>${name === 'subject' ? html`<a id=${`row-${task.id}`} data-id=${task.id} href=${toTask(list, task.id)} tabindex=${task.id === stop ? 0 : -1} onFocus=${() => (current.value = task.id)}>${of(task)}</a>` : of(task)}</td>`;
  const space = (/** @type {string} */ key, /** @type {number} */ many) => many > 0 && html`<tr key=${key} class="space" aria-hidden="true" style=${{ height: `${many * height}px` }}></tr>`;
  const checkbox = (/** @type {Task} */ { id }) => html`
    <td class="of-mark"><label><input type="checkbox" aria-label=${`Mark #${id}`} tabindex="-1" checked=${marks.value.has(id)} onChange=${() => (mark(id), (wanted.value = id))} /></label></td>
  `;
  return html`
    <main id="main" tabindex="-1" class="listed">
      <h1>${list} <span class="dim">${count(n, 'task')}</span>
        ${marked > 0 && html`<span class="marked">${marked} marked <button type="button" onClick=${onMarked}>Actions… <kbd>.</kbd></button> <button type="button" class="quiet" onClick=${markAll}>None</button></span>`}
      </h1>
      <div class="bar" role="search"><label class="grow"><span class="unseen">Filter</span><input id="filter" type="search" placeholder="Filter: words, state:, owner:, group:…" value=${text} onInput=${(/** @type {Event} */ event) => go(withParts({ screen: 'list', q: /** @type {HTMLInputElement} */ (event.target).value }), true)} /></label>
        ${order.held.value > 0 && html`<span class="changes">${count(order.held.value, 'change')}</span>`}</div>
      ${n === 0
        ? html`<p class="hint">${text === '' ? 'No tasks yet.' : 'No task matches.'}</p>`
        : html`
            <div ref=${box} class="rows" onScroll=${look}>
              <table aria-rowcount=${n + 1} aria-label=${`Tasks of ${list}`}>
                <thead><tr aria-rowindex="1"><th scope="col" class="of-mark"><span class="unseen">Marked</span></th>${used.map(head)}</tr></thead>
                <tbody>
                  ${space('above', first)}
                  ${shown.map((task, k) => html`<tr key=${task.id} aria-rowindex=${first + k + 2} class=${marks.value.has(task.id) ? 'is-marked' : ''}>${checkbox(task)}${used.map(cell(task))}</tr>`)}
                  ${space('below', n - last)}
                </tbody>
              </table>
            </div>
          `}
    </main>
  `;
}
