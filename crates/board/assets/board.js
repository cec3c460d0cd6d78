// The board: five columns by state and readiness, and the keys that walk them.
// @ts-check

import { html, useEffect, useMemo, useState } from './preact.js';
import { aim, columns, isAiming, refusal } from './aim.js';
import { current, focusOn, Stack } from './card.js';
import { FIELD_NAMES, keepOf, termsOf } from './filter.js';
import { useKeys } from './keys.js';
import { Order } from './order.js';
import { go, list as listNow, route, toTask, withParts } from './route.js';
import { connection, lists, taskOf } from './state.js';
import { Command, toast } from './notices.js';
import { act, add, menu, moves, undo, verbsOf, VERBS } from './verbs.js';
import { count, plain } from './words.js';

/** @typedef {import('./lanes.js').Lane} Lane */

/** The parts of the address that say what the board shows. */
function wanted() {
  const { query } = route.value;
  return {
    list: listNow.value ?? '',
    text: query.get('q') ?? '',
    order: query.get('sort') ?? '',
    isHiding: query.has('hide'),
    allDone: query.has('done'),
  };
}

export function Board() {
  const { list, text, order: sort, isHiding, allDone } = wanted();
  const isKnown = lists.has(list);
  const order = useMemo(() => {
    const kept = keepOf(text);
    const isAsked = termsOf(text).some((it) => it.includes('state:cancelled'));
    const keep = (/** @type {Task} */ task) => (task.state !== 'cancelled' || isAsked) && kept(task);
    return new Order({ list, keep, order: sort, allDone: allDone || text !== '' });
  }, [list, text, sort, allDone, isKnown]);
  useEffect(() => () => order.end(), [order]);
  const isFrozen = isAiming.value;
  useEffect(() => order.freeze(isFrozen), [order, isFrozen]);
  useWalk(order, list);
  const { task } = route.value;
  useEffect(() => {
    // Out from under the panel, which came after the focus.
    if (task !== null) document.querySelector(`a[data-id="${CSS.escape(task)}"]`)?.scrollIntoView({ inline: 'nearest', block: 'nearest' });
  }, [task]);
  void order.drawn.value;

  const of = order.lanes.of;
  const all = lists.get(list)?.tasks.size ?? 0;
  const isEmpty = Object.values(of).every((it) => it.length === 0);
  if (connection.value === 'loading') return html`<${Outlines} />`;
  if (all === 0) return html`<${NoTasks} list=${list} />`;
  return html`
    <main id="main" tabindex="-1" class="board">
      <h1 class="unseen">Board of ${list}</h1>
      <${Bar} text=${text} sort=${sort} isHiding=${isHiding} order=${order} />
      ${isEmpty && text !== '' && html`<p class="hint">No task matches. <button type="button" onClick=${() => go(withParts({ q: '' }), true)}>Clear the filter</button></p>`}
      <${Picker} of=${of} />
      <div class="columns">
        ${columns.value.map(
          ({ lane, title }) => html`<${Column} key=${lane} lane=${lane} title=${title} order=${order} list=${list} isHiding=${isHiding} allDone=${allDone} />`,
        )}
      </div>
      <${Ghost} />
    </main>
  `;
}

/** @type {Record<string, string>} */
const SIGNS = { ready: '○', claimed: '◔', running: '◐', needs: '▲', done: '✓' };

/** @param {{ lane: Lane, title: string, order: Order, list: string, isHiding: boolean, allDone: boolean }} of */
function Column({ lane, title, order, list, isHiding, allDone }) {
  const [isOpen, setOpen] = useState(false);
  void order.drawn.value;
  const n = order.lanes.of[lane].length;
  const blocked = order.lanes.of.blocked.length;
  const held = aim.value;
  const why = held === null ? null : refusal(lane);
  const classes = ['column'];
  if (why !== null) classes.push('refused');
  if (held?.to === lane) classes.push('over');
  const name = lane === 'done' && !allDone ? 'Done today' : title;
  return html`
    <section class=${classes.join(' ')} data-lane=${lane} id=${`column-${lane}`} aria-labelledby=${`of-${lane}`}>
      <h2 id=${`of-${lane}`}>
        <span class=${`sign of-${lane}`} aria-hidden="true">${SIGNS[lane]}</span> ${name} <span class="n">${n}</span>
        ${lane === 'done' && html`<button type="button" class="quiet" onClick=${() => go(withParts({ done: allDone ? '' : 'all' }), true)}>${allDone ? 'today' : 'all'}</button>`}
      </h2>
      <${Stack} order=${order} lane=${lane} list=${list} label=${name} />
      ${lane === 'ready' && !isHiding && blocked > 0 && html`
        <h3>
          <button type="button" class="quiet" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${isOpen ? '⌄' : '›'} Blocked <span class="n">${blocked}</span></button>
        </h3>
        ${isOpen && html`<${Stack} order=${order} lane="blocked" list=${list} label="Blocked" />`}
      `}
    </section>
  `;
}

/** The column picker of a narrow screen. @param {{ of: Record<Lane, unknown[]> }} of */
function Picker({ of }) {
  return html`
    <nav class="picker" aria-label="Columns">
      ${columns.value.map(
        ({ lane, title }) => html`
          <button key=${lane} type="button" onClick=${() => document.getElementById(`column-${lane}`)?.scrollIntoView({ inline: 'center', block: 'nearest' })}>
            <span aria-hidden="true">${SIGNS[lane]}</span> ${title} <span class="n">${of[lane].length}</span>
          </button>
        `,
      )}
    </nav>
  `;
}

/** @param {{ text: string, sort: string, isHiding: boolean, order: Order }} of */
function Bar({ text, sort, isHiding, order }) {
  const held = order.held.value;
  const value = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).value;
  return html`
    <div class="bar" role="search">
      <label class="grow"
        ><span class="unseen">Filter</span>
        <input id="filter" type="search" placeholder=${`Filter: words, ${FIELD_NAMES.slice(1, 4).join(':, ')}:…`} value=${text} onInput=${(/** @type {Event} */ event) => go(withParts({ q: value(event) }), true)} />
      </label>
      <label>Sort
        <select value=${sort} onChange=${(/** @type {Event} */ event) => go(withParts({ sort: value(event) }), true)}>
          <option value="">claim order</option>
          <option value="priority">priority</option>
          <option value="due">due</option>
          <option value="number">number</option>
        </select>
      </label>
      <label><input type="checkbox" checked=${isHiding} onChange=${() => go(withParts({ hide: isHiding ? '' : 'blocked' }), true)} /> Hide blocked</label>
      ${held > 0 && html`<span class="changes">${count(held, 'change')}</span>`}
    </div>
  `;
}

/** The card under the pointer, with the reason where it is refused. */
function Ghost() {
  const held = aim.value;
  if (held === null) return null;
  const task = taskOf(held.list, held.id);
  if (task === undefined) return null;
  const why = held.to === null ? null : refusal(held.to);
  const style = held.at === null ? {} : { transform: `translate(${held.at.x + 12}px, ${held.at.y + 8}px)` };
  if (held.at === null && why === null) return null;
  return html`
    <div class=${held.at === null ? 'ghost of-keys' : 'ghost'} style=${style} aria-hidden="true">
      ${held.at !== null && html`<span>#${task.id} ${plain(task.subject)}</span>`}
      ${why !== null && html`<strong>⊘ ${why}</strong>`}
    </div>
  `;
}

/** What is shown until the first state comes. */
export function Outlines() {
  return html`<main id="main" tabindex="-1" class="board" aria-busy="true"><h1 class="unseen">Loading</h1><div class="columns loading">${columns.value.map(({ lane, title }) => html`<section class="column" key=${lane}><h2>${title}</h2></section>`)}</div></main>`;
}

/** @param {{ list: string }} of */
export function NoTasks({ list }) {
  return html`
    <main id="main" tabindex="-1" class="page">
      <h1>No tasks yet</h1>
      <p>Make some in the terminal:</p>
      <ul class="plain">
        ${["flagpost add 'Write the parser'", 'flagpost import PLAN.md'].map(
          (it) => html`<li key=${it}><${Command} text=${it} /></li>`,
        )}
      </ul>
      <p><button type="button" class="main" onClick=${() => add(list)}>New task <kbd>c</kbd></button></p>
    </main>
  `;
}

/** The keys of the board. @param {Order} order @param {string} list */
function useWalk(order, list) {
  useKeys(
    'Board',
    () => {
      /** @returns {{ lane: Lane, at: number }} */
      const here = () => {
        const id = current.peek();
        const lane = id === null ? undefined : order.lanes.laneOf(id);
        const at = lane === undefined ? -1 : order.lanes.of[lane].findIndex((it) => it.id === id);
        return { lane: lane ?? 'ready', at };
      };
      const step = (/** @type {number} */ by) => {
        const { lane, at } = here();
        const entries = order.lanes.of[lane];
        const next = entries[Math.max(0, Math.min(entries.length - 1, at + by))];
        if (next !== undefined) focusOn(next.id);
      };
      const side = (/** @type {number} */ by) => {
        const { lane } = here();
        const from = columns.peek().findIndex((it) => it.lane === lane || (lane === 'blocked' && it.lane === 'ready'));
        for (let at = from + by; at >= 0 && at < columns.peek().length; at += by) {
          const first = order.lanes.of[columns.peek()[at]?.lane ?? 'ready'][0];
          if (first !== undefined) return focusOn(first.id);
        }
      };
      /** @param {(task: Task) => void} run */
      const onTask = (run) => () => {
        const task = current.peek() === null ? undefined : taskOf(list, current.peek() ?? '');
        if (task !== undefined) run(task);
      };
      /** @param {Task} task @param {number} by */
      const shift = (task, by) => {
        const from = here().lane;
        const start = columns.peek().findIndex((it) => it.lane === from || (from === 'blocked' && it.lane === 'ready'));
        for (let at = start + by; at >= 0 && at < columns.peek().length; at += by) {
          const { verbs } = moves(task, columns.peek()[at]?.lane ?? 'ready');
          if (verbs.length > 0) return void menu(list, task, verbs);
        }
        toast('No verb brings it there.');
      };
      const open = onTask((task) => void menu(list, task));
      return [
        { key: 'j', does: 'next card', run: () => step(1) },
        { key: 'ArrowDown', shown: '↓', does: 'next card', run: () => step(1) },
        { key: 'k', does: 'card before', run: () => step(-1) },
        { key: 'ArrowUp', shown: '↑', does: 'card before', run: () => step(-1) },
        { key: 'h', does: 'column to the left', run: () => side(-1) },
        { key: 'ArrowLeft', shown: '←', does: 'column to the left', run: () => side(-1) },
        { key: 'l', does: 'column to the right', run: () => side(1) },
        { key: 'ArrowRight', shown: '→', does: 'column to the right', run: () => side(1) },
        { key: 'Home', does: 'first card', run: () => step(-1e9) },
        { key: 'End', does: 'last card', run: () => step(1e9) },
        { key: 'Enter', does: 'open', run: onTask((task) => go(toTask(list, task.id))) },
        { key: 'Space', does: 'grab; arrows, Enter drops, Esc puts back', run: () => {} },
        { key: 'm', does: 'move: the verbs of this card', run: open },
        { key: '.', does: 'actions', run: open },
        { key: 'Shift-ArrowLeft', shown: 'Shift ←', does: 'move to the left', run: onTask((task) => shift(task, -1)) },
        { key: 'Shift-ArrowRight', shown: 'Shift →', does: 'move to the right', run: onTask((task) => shift(task, 1)) },
        { key: 'e', does: 'edit', run: onTask((task) => verbsOf(task).includes('edit') && void act('edit', list, task)) },
        { key: 'A', does: VERBS.answer.label, run: onTask((task) => task.state === 'stuck' && void act('answer', list, task)) },
        { key: 'y', does: 'copy the id', run: onTask((task) => void navigator.clipboard.writeText(task.id).then(() => toast(`Copied ${task.id}`))) },
        { key: '/', does: 'filter', run: () => document.getElementById('filter')?.focus() },
        { key: 'c', does: 'new task', run: () => void add(list) },
        { key: 'u', does: 'undo', run: () => void undo() },
      ];
    },
    [order, list],
  );
}
