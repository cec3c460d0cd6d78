// Tasks in lanes, each lane in its order.
//
// A change costs a binary search, not a new order of everything. Owns only ids and their places; the tasks
// themselves are in state.js.
// @ts-check

/** @typedef {{ key: string, id: string }} Entry */
/** @typedef {'ready' | 'blocked' | 'claimed' | 'running' | 'needs' | 'done'} Lane */
/** @typedef {{ lane: Lane, key: string } | null} Place a null place is not shown */

/** @type {Lane[]} */
export const LANES = ['ready', 'blocked', 'claimed', 'running', 'needs', 'done'];

/** @param {string} id */
export const padded = (id) => id.padStart(12, '0');
/** Times so that the newest sorts first. @param {string | null} at */
const newestFirst = (at) => String(9e15 - (at === null ? 0 : Date.parse(at)));

/** The lane of a task. The daemon says whether it is ready. @param {Task} task @returns {Lane} */
export function laneOf({ state, ready }) {
  if (state === 'pending') return ready ? 'ready' : 'blocked';
  if (state === 'claimed') return 'claimed';
  if (state === 'in_progress') return 'running';
  return state === 'failed' || state === 'stuck' ? 'needs' : 'done';
}

const PRIORITIES = { critical: '0', high: '1', medium: '2', low: '3' };

/** What sorts a task within its lane. @param {Task} task @param {Lane} lane @param {string} order */
export function keyOf(task, lane, order) {
  const end = padded(task.id);
  if (order === 'number') return end;
  if (order === 'due') return `${task.due ?? '9999'} ${end}`;
  if (order === 'priority') return `${task.priority === null ? '2' : PRIORITIES[task.priority]} ${end}`;
  if (lane === 'ready' || lane === 'blocked') return `${task.key ?? ''} ${end}`;
  if (lane === 'done') return `${newestFirst(task.ended_at)} ${end}`;
  return `${task.claim?.at ?? task.ended_at ?? ''} ${end}`;
}

export class Lanes {
  /** @type {Record<Lane, Entry[]>} */
  of = { ready: [], blocked: [], claimed: [], running: [], needs: [], done: [] };
  /** @type {Map<string, { lane: Lane, key: string }>} */
  #places = new Map();
  /** @type {(task: Task) => Place} */
  #place;

  /** @param {(task: Task) => Place} place @param {Iterable<Task>} tasks */
  constructor(place, tasks) {
    this.#place = place;
    for (const task of tasks) {
      const at = place(task);
      if (at === null) continue;
      this.#places.set(task.id, at);
      this.of[at.lane].push({ key: at.key, id: task.id });
    }
    for (const lane of LANES) this.of[lane].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Whether this task would change its place. @param {Task} task */
  wouldMove(task) {
    const was = this.#places.get(task.id);
    const now = this.#place(task);
    return was?.lane !== now?.lane || was?.key !== now?.key;
  }

  /** Puts a task where it belongs now. @param {Task} task */
  put(task) {
    if (!this.wouldMove(task)) return;
    this.drop(task.id);
    const now = this.#place(task);
    if (now === null) return;
    this.#places.set(task.id, now);
    const lane = this.of[now.lane];
    lane.splice(at(lane, now.key), 0, { key: now.key, id: task.id });
  }

  /** @param {string} id */
  drop(id) {
    const was = this.#places.get(id);
    if (was === undefined) return;
    this.#places.delete(id);
    const lane = this.of[was.lane];
    lane.splice(at(lane, was.key), 1);
  }

  /** Where a task is. @param {string} id @returns {Lane | undefined} */
  laneOf(id) {
    return this.#places.get(id)?.lane;
  }
}

/** The first place whose key is not before this. @param {Entry[]} lane @param {string} key */
function at(lane, key) {
  let low = 0;
  for (let high = lane.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((lane[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
