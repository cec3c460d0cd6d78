// The lanes of a list as one screen shows them, kept up as tasks change.
//
// While the person aims (a pointer is down, a card is grabbed, a menu is open) no card changes its place:
// its words change, its move waits.
// @ts-check

import { keyOf, laneOf, Lanes } from './lanes.js';
import { signal } from './preact.js';
import { keepOrder, lists } from './state.js';
import { nameOf, pending, settle } from './verbs.js';

/** @typedef {{ list: string, keep: (task: Task) => boolean, order: string, allDone: boolean, place?: (task: Task) => import('./lanes.js').Place }} Wanted a `place` says where a task is in place of the rest */

/** @param {string | null} at */
function isToday(at) {
  return at !== null && new Date(at).toDateString() === new Date().toDateString();
}

export class Order {
  /** Counts the drawings that are due. */
  drawn = signal(0);
  /** How many moves wait. */
  held = signal(0);
  /** @type {Lanes} */
  lanes;
  #wanted;
  #isFrozen = false;
  /** @type {Map<string, Task | null>} */
  #waiting = new Map();
  #frame = 0;
  #ends;

  /** @param {Wanted} wanted */
  constructor(wanted) {
    this.#wanted = wanted;
    this.lanes = this.#build();
    const stop = keepOrder((list, tasks, removed) => this.#told(list, tasks, removed));
    const unsubscribe = pending.subscribe(() => this.#replace());
    this.#ends = [stop, unsubscribe];
  }

  end() {
    for (const end of this.#ends) end();
    cancelAnimationFrame(this.#frame);
  }

  /** @param {boolean} isFrozen */
  freeze(isFrozen) {
    if (this.#isFrozen === isFrozen) return;
    this.#isFrozen = isFrozen;
    if (isFrozen) return;
    for (const [id, task] of this.#waiting) {
      if (task === null) this.lanes.drop(id);
      else this.lanes.put(task);
    }
    this.#waiting.clear();
    this.held.value = 0;
    this.#draw();
  }

  #build() {
    const tasks = lists.get(this.#wanted.list)?.tasks ?? new Map();
    return new Lanes((task) => this.#place(task), [...tasks.values()].map((it) => it.peek()));
  }

  /** @param {Task} task @returns {import('./lanes.js').Place} */
  #place(task) {
    const { list, keep, order, allDone, place } = this.#wanted;
    if (place !== undefined) return place(task);
    const sent = pending.peek().get(nameOf(list, task.id));
    const lane = sent?.lane ?? laneOf(task);
    const isOld = lane === 'done' && sent === undefined && !allDone && !isToday(task.ended_at);
    return isOld || !keep(task) ? null : { lane, key: keyOf(task, lane, order) };
  }

  /** @param {string} list @param {Task[]} tasks @param {string[]} removed */
  #told(list, tasks, removed) {
    if (list !== this.#wanted.list) return;
    for (const task of tasks) {
      const name = nameOf(list, task.id);
      const sent = pending.peek().get(name);
      if (sent !== undefined && laneOf(task) !== sent.from) settle(name);
      this.#put(task.id, task);
    }
    for (const id of removed) this.#put(id, null);
    this.#draw();
  }

  /** @param {string} id @param {Task | null} task */
  #put(id, task) {
    if (!this.#isFrozen) {
      if (task === null) this.lanes.drop(id);
      else this.lanes.put(task);
    } else if (task === null || this.lanes.wouldMove(task)) {
      this.#waiting.set(id, task);
      this.held.value = this.#waiting.size;
    }
  }

  /** Cards that were sent, or have come back. */
  #sent = new Set();
  #replace() {
    const prefix = nameOf(this.#wanted.list, '');
    const now = new Set([...pending.peek().keys()].filter((it) => it.startsWith(prefix)));
    for (const name of new Set([...now, ...this.#sent])) {
      const id = name.slice(prefix.length);
      const task = lists.get(this.#wanted.list)?.tasks.get(id)?.peek();
      if (task !== undefined) this.lanes.put(task);
    }
    this.#sent = now;
    this.#draw();
  }

  /** At most one drawing for each frame. */
  #draw() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.drawn.value += 1;
    });
  }
}
