// A card of the board, and the stack of cards that a column scrolls.
//
// Only the cards in sight are in the page; all have one height. A card redraws with its own task alone.
// @ts-check

import { html, signal, useLayoutEffect, useRef } from './preact.js';
import { aim, aimBy, drop, follow, grab, putBack } from './aim.js';
import { go, toTask } from './route.js';
import { pixels, useSight } from './sight.js';
import { taskOf } from './state.js';
import { faults, menu, nameOf, pending } from './verbs.js';
import { age, left, now, plain, PRIORITY, STATES } from './words.js';

/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {import('./order.js').Order} Order */

/** The card that the keys act on. @type {import('./preact.js').Signal<string | null>} */
export const current = signal(null);
/** Whether the page's focus is still to be brought to it. */
let isWanted = false;

/** Makes a card current, brings it into sight and focuses it. @param {string} id */
export function focusOn(id) {
  isWanted = true;
  current.value = id;
  moved.value += 1;
}
const moved = signal(0);

const NARROW = matchMedia('(max-width: 43.74em)');
/** The height of a card with its gap, in rem; board.css says the same. */
const HEIGHT = 5.9;

/** What is said of a task below its subject. @param {Task} task */
function below(task) {
  const said = [];
  if (task.state === 'pending') {
    const after = task.not_before === null || Date.parse(task.not_before) < now.value ? null : task.not_before;
    if (task.waits_for.length > 0) said.push(`waits for ${task.waits_for.map((id) => `#${id}`).join(' ')}`);
    else if (!task.ready && after !== null) said.push(`not before ${after}`);
    if (task.blocks.length > 0) said.push(`blocks ${task.blocks.length}`);
    if (task.due !== null) said.push(`due ${task.due}`);
  } else {
    const who = task.claim?.by ?? task.owner;
    if (who !== null) said.push(plain(who));
    if (task.claim !== null) {
      const rest = left(task.claim.expires_at);
      said.push(task.state === 'claimed' ? (rest === null ? 'lease over' : `lease ${rest}`) : age(task.claim.at));
      if (task.state === 'in_progress' && rest === null && task.claim.expires_at !== null) said.push('lease over');
    } else if (task.ended_at !== null) said.push(age(task.ended_at));
    if (task.attempts > 1) said.push(`try ${task.attempts}`);
  }
  if (task.group !== null) said.push(plain(task.group));
  if (task.complexity !== null) said.push(plain(task.complexity));
  return said.join(' · ');
}

/** @param {{ list: string, id: string, lane: Lane, at: number, of: number, height: number, isStop: boolean, order: Order }} of */
function Card({ list, id, lane, at, of, height, isStop, order }) {
  const task = taskOf(list, id);
  const link = useRef(/** @type {HTMLElement | null} */ (null));
  // The focus goes along to another column.
  useLayoutEffect(() => () => {
    const to = order.lanes.laneOf(id);
    if (document.activeElement === link.current && to !== undefined && to !== lane) queueMicrotask(() => focusOn(id));
  }, [lane, order]);
  if (task === undefined) return null;
  const name = nameOf(list, id);
  const fault = faults.value.get(name);
  const isHeld = aim.value?.id === id;
  const classes = ['card', task.state];
  if (lane === 'blocked') classes.push('blocked');
  if (pending.value.has(name)) classes.push('sent');
  if (isHeld) classes.push('held');
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const key = event.key;
    /** @type {Record<string, () => void>} */
    const held = {
      ArrowLeft: () => aimBy(lane, -1),
      ArrowRight: () => aimBy(lane, 1),
      Enter: () => void drop(),
      ' ': () => void drop(),
      Escape: putBack,
    };
    const run = isHeld ? held[key] ?? (() => {}) : key === ' ' ? () => grab(list, id) : undefined;
    if (run === undefined || key === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  /** @param {MouseEvent} event */
  const click = (event) => {
    if (!NARROW.matches) return;
    event.preventDefault();
    event.stopPropagation();
    void menu(list, task, undefined, () => go(toTask(list, id)));
  };
  const { sign, word } = STATES[task.state];
  return html`
    <li style=${{ top: `${at * height}px` }} aria-setsize=${of} aria-posinset=${at + 1}>
      <a
        ref=${link}
        class=${classes.join(' ')}
        href=${toTask(list, id)}
        draggable=${false}
        data-id=${id}
        tabindex=${isStop ? 0 : -1}
        onFocus=${() => (current.value = id)}
        onPointerDown=${(/** @type {PointerEvent} */ event) => follow(event, list, id)}
        onKeyDown=${press}
        onClick=${click}
      >
        <span class="subject"><span class="sign" aria-label=${word} role="img">${sign}</span> #${id} ${PRIORITY[task.priority ?? '']} ${plain(task.subject)}</span>
        <span class=${fault === undefined ? 'below' : 'below fault'}>${fault ?? below(task)}</span>
      </a>
    </li>
  `;
}

/** @param {{ order: Order, lane: Lane, list: string, label: string }} of */
export function Stack({ order, lane, list, label }) {
  void order.drawn.value;
  void moved.value;
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const height = pixels(HEIGHT);
  const entries = order.lanes.of[lane];
  const { first, last, look, bring } = useSight(box, height, entries.length);
  useLayoutEffect(() => {
    const id = current.peek();
    if (!isWanted || id === null || order.lanes.laneOf(id) !== lane) return;
    bring(entries.findIndex((it) => it.id === id));
    const card = box.current?.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (!(card instanceof HTMLElement)) return look();
    isWanted = false;
    card.focus({ preventScroll: true });
    if (NARROW.matches) card.scrollIntoView({ block: 'nearest', inline: 'center' });
  });
  const shown = entries.slice(first, last);
  const stop = shown.some(({ id }) => id === current.value) ? current.value : shown[Math.min(2, first)]?.id;
  return html`
    <div ref=${box} class="scroll" onScroll=${look}>
      <ul aria-label=${label} style=${{ height: `${entries.length * height}px` }}>
        ${shown.map(
          ({ id }, at) => html`<${Card} key=${id} list=${list} id=${id} lane=${lane} at=${first + at} of=${entries.length} height=${height} isStop=${id === stop} order=${order} />`,
        )}
      </ul>
    </div>
  `;
}
