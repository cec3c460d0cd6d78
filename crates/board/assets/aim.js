// Aiming at a column, by pointer or by keys: which card is held, where it would go, and why not.
//
// Owns the gesture only. The drop is a verb of verbs.js.
// @ts-check

import { computed, signal } from './preact.js';
import { asked } from './ask.js';
import { laneOf } from './lanes.js';
import { say } from './notices.js';
import { canAct, taskOf } from './state.js';
import { menu, moves } from './verbs.js';
import { isPhone } from './words.js';

/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {{ list: string, id: string, to: Lane | null, at: { x: number, y: number } | null }} Aim a null `at` is a grab by key */

/** @type {import('./preact.js').Signal<Aim | null>} */
export const aim = signal(null);
const isDown = signal(false);
/** Whether cards must keep their places. */
export const isAiming = computed(() => aim.value !== null || isDown.value || asked.value !== null);

/** The columns a card can be brought to, and their names. @type {{ lane: Lane, title: string }[]} */
export const COLUMNS = [
  { lane: 'ready', title: 'Ready' },
  { lane: 'claimed', title: 'Claimed' },
  { lane: 'running', title: 'Running' },
  { lane: 'needs', title: 'Needs you' },
  { lane: 'done', title: 'Done' },
];

/** The same in the order of the screen: where one fills it, what waits for the person comes first. */
export const columns = computed(() => (isPhone.value ? [...COLUMNS].sort((a, b) => Number(b.lane === 'needs') - Number(a.lane === 'needs')) : COLUMNS));

/** Why the held card cannot come here; null where it can. @param {Lane} lane @returns {string | null} */
export function refusal(lane) {
  const held = aim.value;
  const task = held === null ? undefined : taskOf(held.list, held.id);
  return task === undefined || laneOf(task) === lane ? null : moves(task, lane).refused;
}

/** @param {Lane | null} to */
function over(to) {
  const held = aim.peek();
  if (held === null || held.to === to) return;
  aim.value = { ...held, to };
  const title = COLUMNS.find(({ lane }) => lane === to)?.title;
  if (to === null || title === undefined) return;
  const why = refusal(to);
  say(why === null ? `#${held.id} over ${title}` : `${title}: refused, ${why}`);
}

/** Lets go of the card: over a column, that is a verb. */
export async function drop() {
  const held = aim.peek();
  aim.value = null;
  if (held === null || held.to === null) return;
  const task = taskOf(held.list, held.id);
  if (task === undefined) return;
  const { verbs, refused } = moves(task, held.to);
  if (refused === null) await menu(held.list, task, verbs);
  else say(`Refused: ${refused}`);
}

export function putBack() {
  if (aim.peek() === null) return;
  aim.value = null;
  say('Put back.');
}

/** Grabs by key. @param {string} list @param {string} id */
export function grab(list, id) {
  if (!canAct.peek()) return say('Not connected: verbs are off.');
  aim.value = { list, id, to: null, at: null };
  say(`Grabbed #${id}. Left and right choose a column, Enter drops, Escape puts back.`);
}

/** The next column to the left or right of where the card is aimed at. @param {Lane} from @param {number} by */
export function aimBy(from, by) {
  const now = aim.peek()?.to ?? from;
  const at = COLUMNS.findIndex(({ lane }) => lane === now || (lane === 'ready' && now === 'blocked'));
  const next = COLUMNS[at + by];
  if (next !== undefined) over(next.lane);
}

/** Moves farther than this are a drag, not a click. */
const STILL = 6;

/** Follows a pointer that went down on a card. @param {PointerEvent} down @param {string} list @param {string} id */
export function follow(down, list, id) {
  if (down.button !== 0 || down.pointerType === 'touch') return;
  isDown.value = true;
  const end = new AbortController();
  let isDrag = false;

  /** @param {PointerEvent} event */
  const moved = ({ clientX: x, clientY: y }) => {
    if (!isDrag && Math.hypot(x - down.clientX, y - down.clientY) < STILL) return;
    isDrag = true;
    if (!canAct.peek()) return;
    aim.value = { list, id, to: aim.peek()?.to ?? null, at: { x, y } };
    const column = document.elementFromPoint(x, y)?.closest('[data-lane]');
    over(column instanceof HTMLElement ? /** @type {Lane} */ (column.dataset.lane) : null);
  };
  const stop = () => {
    isDown.value = false;
    end.abort();
  };
  const { signal: until } = end;
  addEventListener('pointermove', moved, { signal: until });
  addEventListener('pointerup', () => {
    stop();
    // A drag is no click on the card below the pointer.
    if (isDrag) {
      const swallow = (/** @type {Event} */ event) => {
        event.preventDefault();
        event.stopPropagation();
      };
      addEventListener('click', swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener('click', swallow, true), 0);
    }
    void drop();
  }, { signal: until });
  addEventListener('pointercancel', () => {
    stop();
    putBack();
  }, { signal: until });
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopImmediatePropagation();
    stop();
    putBack();
  }, { signal: until, capture: true });
}
