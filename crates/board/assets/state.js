// The fleet as the daemon tells it: one signal for each task.
//
// Owned by the stream: only `resync` and `change` write here, never a screen. It holds no rule.
// @ts-check

import { batch, computed, signal } from './preact.js';

/** @typedef {import('./preact.js').Signal<Task>} TaskSignal */
/** @typedef {{ repo: string, tasks: Map<string, TaskSignal> }} List */

/** How the stream is. @type {import('./preact.js').Signal<'loading' | 'live' | 'lost' | 'refused'>} */
export const connection = signal('loading');
/** When the stream was heard last, in milliseconds. */
export const heardAt = signal(0);
/** Verbs are off without a stream: the page would not see what they did. */
export const canAct = computed(() => connection.value === 'live');

/** @type {import('./preact.js').Signal<Repository[]>} */
export const repositories = signal([]);
/** @type {Map<string, List>} */
export const lists = new Map();
/** The lists by name, in the order of the selector. @type {import('./preact.js').Signal<string[]>} */
export const listNames = signal([]);
/** The fleet of machines; null where the home is in none. @type {import('./preact.js').Signal<MachinesSeen | null>} */
export const machines = signal(null);
/** Counts the transitions about mail, workers and sessions: who shows these asks again. */
export const mailMoved = signal(0);
export const fleetMoved = signal(0);
export const runMoved = signal(0);

/** Whoever keeps an order of tasks is told which changed. */
/** @type {Set<(list: string, tasks: Task[], removed: string[]) => void>} */
const keepers = new Set();

/** @param {(list: string, tasks: Task[], removed: string[]) => void} keeper */
export function keepOrder(keeper) {
  keepers.add(keeper);
  return () => {
    keepers.delete(keeper);
  };
}

/** @param {string | null} list @param {string} id @returns {Task | undefined} */
export const taskOf = (list, id) => lists.get(list ?? '')?.tasks.get(id)?.value;

/** The repository of a list. @param {string | null} list */
export function repositoryOf(list) {
  const repo = lists.get(list ?? '')?.repo;
  return repositories.value.find(({ id }) => id === repo) ?? repositories.value[0];
}

/** The list of a repository: the one of its name, else its first. @param {string | null} repo */
export function listOf(repo) {
  const own = listNames.value.filter((it) => lists.get(it)?.repo === repo);
  const named = repositories.value.find(({ id }) => id === repo)?.name;
  return own.find((it) => it === named) ?? own[0] ?? null;
}

/** @param {string} repo @param {string} name @param {Task[]} tasks @param {string[]} removed */
function write(repo, name, tasks, removed) {
  const list = lists.get(name) ?? { repo, tasks: new Map() };
  lists.set(name, list);
  for (const task of tasks) {
    const kept = list.tasks.get(task.id);
    if (kept === undefined) list.tasks.set(task.id, signal(task));
    else kept.value = task;
  }
  for (const id of removed) list.tasks.delete(id);
  for (const keeper of keepers) keeper(name, tasks, removed);
}

/** The whole state; how many tasks differ from before. @param {Repository[]} now @param {MachinesSeen | null} fleet */
export function resync(now, fleet) {
  let differ = 0;
  batch(() => {
    const named = new Set();
    for (const repository of now) {
      for (const { list, tasks } of repository.lists) {
        named.add(list);
        const was = lists.get(list)?.tasks ?? new Map();
        const here = new Set(tasks.map(({ id }) => id));
        const removed = [...was.keys()].filter((id) => !here.has(id));
        const other = tasks.filter((task) => !was.has(task.id) || JSON.stringify(was.get(task.id)?.peek()) !== JSON.stringify(task));
        differ += other.length + removed.length;
        write(repository.id, list, other, removed);
      }
    }
    for (const list of lists.keys()) if (!named.has(list)) lists.delete(list);
    repositories.value = now.map((repository) => ({ ...repository, lists: [] }));
    listNames.value = [...lists.keys()].sort((a, b) => a.localeCompare(b));
    machines.value = fleet;
    mailMoved.value += 1;
    fleetMoved.value += 1;
    runMoved.value += 1;
  });
  return differ;
}

/** @param {ListChange} change */
export function change({ repo, list, tasks, removed }) {
  batch(() => {
    const isNew = !lists.has(list);
    write(repo, list, tasks, removed);
    if (isNew) listNames.value = [...lists.keys()].sort((a, b) => a.localeCompare(b));
  });
}

/** The last line of the history that was about a task. @type {import('./preact.js').Signal<{ list: string, task: string } | null>} */
export const lastOfTask = signal(null);

/** A transition of the history, by its name. @param {string} event @param {{ list: string, task: string } | undefined} line */
export function transition(event, line) {
  if (/^(task|land)\./.test(event) && line !== undefined) lastOfTask.value = line;
  if (/^(controller|relay|worker|message|permission)\./.test(event)) mailMoved.value += 1;
  if (/^(worker|reservation|controller|relay)\./.test(event)) fleetMoved.value += 1;
  if (/^(execution|task|land)\./.test(event)) runMoved.value += 1;
}

/** The data of a daemon.resync, for a tab that joins. */
export function snapshot() {
  const told = repositories.peek().map((repository) => {
    const own = [...lists].filter(([, { repo }]) => repo === repository.id);
    const full = own.map(([list, { tasks }]) => ({ list, tasks: [...tasks.values()].map((it) => it.peek()) }));
    return { ...repository, lists: full };
  });
  return { reason: 'fresh', repositories: told, fleet: machines.peek() };
}
