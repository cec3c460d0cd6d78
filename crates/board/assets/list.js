// The list: tasks as rows, sorted by a column. Columns that no task uses are left out.
// @ts-check

import { html, useEffect, useMemo, useState } from './preact.js';
import { current } from './card.js';
import { keepOf } from './filter.js';
import { useKeys } from './keys.js';
import { padded } from './lanes.js';
import { Order } from './order.js';
import { go, list as listNow, route, toTask, withParts } from './route.js';
import { lists, taskOf } from './state.js';
import { menu } from './verbs.js';
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
/** Rows of a page of the list. */
const MOST = 60;

export function List() {
  const { query } = route.value;
  const list = listNow.value ?? '';
  const text = query.get('q') ?? '';
  const sort = query.get('by') ?? 'id';
  const isDown = query.has('down');
  const [page, setPage] = useState(0);
  const order = useMemo(() => new Order({ list, keep: keepOf(text), order: 'number', allDone: true }), [list, text, lists.has(list)]);
  useEffect(() => () => order.end(), [order]);
  useEffect(() => setPage(0), [list, text, sort, isDown]);
  void order.drawn.value;

  const by = COLUMNS.find(({ name }) => name === sort) ?? COLUMNS[0];
  const keyOf = by?.key ?? by?.of ?? (() => '');
  const tasks = Object.values(order.lanes.of).flat().map(({ id }) => lists.get(list)?.tasks.get(id)?.peek()).filter((it) => it !== undefined);
  const keyed = tasks.map((task) => ({ task, key: `${keyOf(task)} ${padded(task.id)}` })).sort((a, b) => (a.key < b.key ? -1 : 1));
  if (isDown) keyed.reverse();
  const used = COLUMNS.filter(({ name, of }) => name === 'id' || keyed.some(({ task }) => of(task) !== ''));
  const shown = keyed.slice(page * MOST, (page + 1) * MOST);
  const ids = shown.map(({ task }) => task.id);

  const step = (/** @type {number} */ to) => {
    const at = ids.indexOf(current.peek() ?? '');
    const next = ids[Math.max(0, Math.min(ids.length - 1, at + to))];
    if (next !== undefined) document.getElementById(`row-${next}`)?.focus();
  };
  useKeys('List', () => [
    { key: 'j', does: 'next task', run: () => step(1) },
    { key: 'ArrowDown', shown: '↓', does: 'next task', run: () => step(1) },
    { key: 'k', does: 'task before', run: () => step(-1) },
    { key: 'ArrowUp', shown: '↑', does: 'task before', run: () => step(-1) },
    { key: '/', does: 'filter', run: () => document.getElementById('filter')?.focus() },
    { key: '.', does: 'actions', run: () => {
      const task = taskOf(list, current.peek() ?? '');
      if (task !== undefined) void menu(list, task);
    } },
  ], [ids.join(' '), list]);

  const head = (/** @type {Column} */ { name, title }) => {
    const isBy = name === sort;
    const to = withParts({ screen: 'list', by: name, down: isBy && !isDown ? '1' : '' });
    return html`<th key=${name} scope="col" aria-sort=${isBy ? (isDown ? 'descending' : 'ascending') : undefined}><a href=${to}>${title}${isBy ? (isDown ? ' ↓' : ' ↑') : ''}</a></th>`;
  };
  const stop = ids.includes(current.value ?? '') ? current.value : ids[0];
  const cell = (/** @type {Task} */ task) => (/** @type {Column} */ { name, of }) =>
    html`<td key=${name} class=${`of-${name} ${name === 'state' ? task.state : ''}`}>${name === 'subject' ? html`<a id=${`row-${task.id}`} href=${toTask(list, task.id)} tabindex=${task.id === stop ? 0 : -1} onFocus=${() => (current.value = task.id)}>${of(task)}</a>` : of(task)}</td>`;
  return html`
    <main id="main" tabindex="-1" class="page wide">
      <h1>${list} <span class="dim">${count(keyed.length, 'task')}</span></h1>
      <div class="bar" role="search"><label class="grow"><span class="unseen">Filter</span><input id="filter" type="search" placeholder="Filter: words, state:, owner:, group:…" value=${text} onInput=${(/** @type {Event} */ event) => go(withParts({ screen: 'list', q: /** @type {HTMLInputElement} */ (event.target).value }), true)} /></label></div>
      <div class="wide-table">
        <table>
          <thead><tr>${used.map(head)}</tr></thead>
          <tbody>${shown.map(({ task }) => html`<tr key=${task.id}>${used.map(cell(task))}</tr>`)}</tbody>
        </table>
      </div>
      ${keyed.length === 0 && html`<p class="hint">No task matches.</p>`}
      ${keyed.length > MOST && html`<p class="pages"><button type="button" disabled=${page === 0} onClick=${() => setPage(page - 1)}>‹ before</button> ${page * MOST + 1}–${Math.min(keyed.length, (page + 1) * MOST)} of ${keyed.length} <button type="button" disabled=${(page + 1) * MOST >= keyed.length} onClick=${() => setPage(page + 1)}>next ›</button></p>`}
    </main>
  `;
}
