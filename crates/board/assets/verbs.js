// What a person does to a task: which verbs there are, what each asks first, and how it is sent.
//
// A move on the board is a verb, never a write of a state. The daemon decides whether it may be; the page
// only refuses what the table of moves refuses.
// @ts-check

import { get, post } from './api.js';
import { ask, choose } from './ask.js';
import { laneOf } from './lanes.js';
import { fail, say, toast } from './notices.js';
import { signal } from './preact.js';
import { go, part, route, toList } from './route.js';
import { canAct, repositoryOf } from './state.js';
import { count } from './words.js';

/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {'claim' | 'start' | 'done' | 'fail' | 'stuck' | 'release' | 'reopen' | 'cancel' | 'answer' | 'edit' | 'note' | 'blockers' | 'remove'} Verb */

/** @type {Record<Verb, { key: string, label: string, lane: Lane | null }>} */
export const VERBS = {
  claim: { key: 'c', label: 'Claim as…', lane: 'claimed' },
  start: { key: 's', label: 'Start', lane: 'running' },
  done: { key: 'd', label: 'Done…', lane: 'done' },
  stuck: { key: 'k', label: 'Stuck…', lane: 'needs' },
  fail: { key: 'f', label: 'Failed…', lane: 'needs' },
  release: { key: 'r', label: 'Release', lane: 'ready' },
  answer: { key: 'A', label: 'Answer…', lane: 'ready' },
  reopen: { key: 'o', label: 'Reopen', lane: 'ready' },
  edit: { key: 'e', label: 'Edit…', lane: null },
  note: { key: 'n', label: 'Note…', lane: null },
  blockers: { key: 'w', label: 'Waits for…', lane: null },
  cancel: { key: 'x', label: 'Cancel…', lane: 'done' },
  remove: { key: 'D', label: 'Remove…', lane: null },
};

/** @type {Record<TaskState, Verb[]>} */
const OF_STATE = {
  pending: ['claim', 'start', 'done', 'edit', 'note', 'blockers', 'cancel', 'remove'],
  claimed: ['start', 'done', 'stuck', 'fail', 'release', 'edit', 'note', 'blockers', 'cancel'],
  in_progress: ['done', 'stuck', 'fail', 'release', 'edit', 'note', 'blockers', 'cancel'],
  stuck: ['answer', 'reopen', 'edit', 'note', 'blockers', 'cancel', 'remove'],
  failed: ['reopen', 'edit', 'note', 'blockers', 'cancel', 'remove'],
  completed: ['reopen', 'note', 'remove'],
  cancelled: ['reopen', 'note', 'remove'],
};

/** A verb that was sent and whose event has not come: the card is shown where it goes. */
/** @typedef {{ lane: Lane, from: Lane, timer: number }} Pending */
/** @type {import('./preact.js').Signal<Map<string, Pending>>} */
export const pending = signal(new Map());
/** What the daemon said against a verb, for the card. @type {import('./preact.js').Signal<Map<string, string>>} */
export const faults = signal(new Map());
/** The last change of this page, which `u` takes back. @type {import('./preact.js').Signal<{ list: string, as: string | null, text: string } | null>} */
export const undoable = signal(null);
/** Whether the verb that was sent last works, until that is known. @type {Promise<boolean> | null} */
let sending = null;
/** So long a card waits for its event. */
const PATIENCE = 5000;

/** @param {string} list @param {string} id */
export const nameOf = (list, id) => `${list}/${id}`;
/** Why a blocked task is not handed out. @param {Task} task */
export const waitsFor = (task) =>
  task.waits_for.length > 0 ? `waits for ${task.waits_for.map((id) => `#${id}`).join(', ')}` : 'is not ready yet';

/** @param {Task} task @returns {Verb[]} */
export function verbsOf(task) {
  const all = OF_STATE[task.state];
  return laneOf(task) === 'blocked' ? all.filter((verb) => VERBS[verb].lane === null || verb === 'cancel') : all;
}

/**
 * The verbs that bring a task to a lane, or why there is none.
 * @param {Task} task @param {Lane} to @returns {{ verbs: Verb[], refused: string | null }}
 */
export function moves(task, to) {
  const from = laneOf(task);
  if (from === to) return { verbs: [], refused: from === 'ready' ? 'the order is that of claiming' : 'it is here' };
  if (from === 'blocked') return { verbs: [], refused: waitsFor(task) };
  const verbs = verbsOf(task).filter((verb) => VERBS[verb].lane === to && verb !== 'cancel');
  if (verbs.length > 0) return { verbs, refused: null };
  const why = {
    ready: 'only its end can be reopened',
    blocked: 'only its blockers block a task',
    claimed: from === 'running' ? 'it runs already' : 'reopen it first',
    running: 'reopen it first',
    needs: 'nobody holds it',
    done: 'reopen it first',
  };
  return { verbs, refused: why[to] };
}

/** @typedef {{ as: (task: Task) => string | null }} Who in whose name a task is changed */
/** Who acts, with which words; `isOnce` is false where it makes several changes. */
/** @typedef {Who & { body: object, isOnce?: boolean }} Given */

/** The workers in whose names others' tasks are changed, once that is confirmed. @param {Task[]} tasks @param {string} what @returns {Promise<Who | null>} */
async function inNameOf(tasks, what) {
  const as = (/** @type {Task} */ task) => task.claim?.by ?? null;
  const others = tasks.map(as).filter((by) => by !== null);
  if (others.length === 0) return { as };
  const who = [...new Set(others)].join(', ');
  const isOne = tasks.length === 1;
  const sure = await ask({
    title: isOne ? `#${tasks[0]?.id} belongs to ${who}` : `${others.length} of them ${others.length === 1 ? 'belongs' : 'belong'} to ${who}`,
    text: `You hold no claim on ${isOne ? 'it' : 'them'}. ${what} in the name of ${who}? The history records that it was you.`,
    confirm: `Yes, for ${who}`,
  });
  return sure === null ? null : { as };
}

/** @param {string | null} list @param {string} title @returns {Promise<Who | null>} */
async function whose(list, title) {
  const workers = (repositoryOf(list)?.workers ?? []).filter(({ status }) => status === 'active').map(({ id }) => id);
  const given = await ask({
    title,
    text: 'The daemon records that you did it for this worker.',
    fields: [{ name: 'as', label: 'For', kind: 'choice', choices: ['', ...workers] }],
    confirm: 'Claim',
  });
  return given === null ? null : { as: () => given.as || null };
}

const TEXT = /** @type {const} */ ({ done: 'How it ended, in a line', fail: 'Why', stuck: 'The question' });

/**
 * What a verb needs to be known first: who acts, and with which words. Null where the person thought better.
 * @param {Verb} verb @param {string} list @param {Task[]} tasks
 * @returns {Promise<Given | null>}
 */
async function prepare(verb, list, tasks) {
  const [task] = tasks;
  if (task === undefined) return null;
  const isOne = tasks.length === 1;
  const title = isOne ? `#${task.id} ${task.subject}` : `${word(verb)}: ${count(tasks.length, 'task')}`;
  const self = { as: () => null };
  if (verb === 'claim' || (verb === 'start' && tasks.every(({ claim }) => claim === null))) {
    const who = await whose(list, isOne ? `${verb === 'claim' ? 'Claim' : 'Start'} #${task.id}` : title);
    return who && { ...who, body: {} };
  }
  if (verb === 'start') {
    const who = await inNameOf(tasks, isOne ? 'Start it' : 'Start them');
    return who && { ...who, body: {} };
  }
  if (verb === 'done' || verb === 'fail' || verb === 'stuck') {
    const who = await inNameOf(tasks, verb !== 'done' ? 'Report that' : isOne ? 'Report it as done' : 'Report them as done');
    if (who === null) return null;
    const given = await ask({ title, fields: [{ name: 'text', label: TEXT[verb], isNeeded: verb === 'stuck' }], confirm: word(verb) });
    return given && { ...who, body: { text: given.text } };
  }
  if (verb === 'release') {
    const holders = [...new Set(tasks.map(({ claim }) => claim?.by ?? 'its holder'))].join(', ');
    const text = isOne ? `${task.claim?.by ?? 'Its holder'} holds it. Release it by force?` : `Held by ${holders}. Release them by force?`;
    return (await ask({ title, text, confirm: 'Release' })) && { ...self, body: { force: true } };
  }
  if (verb === 'answer') {
    // Whoever answers has the question before the eyes; without it they may know it.
    const { result } = await get(`/v1/tasks/${part(list)}/${part(task.id)}`).catch(() => ({ result: null }));
    const given = await ask({ title, text: isOne ? result?.text : undefined, fields: [{ name: 'text', label: 'Answer', kind: 'text', isNeeded: true }], confirm: 'Answer' });
    return given && { ...self, body: { text: given.text } };
  }
  if (verb === 'note') {
    const given = await ask({ title, fields: [{ name: 'text', label: 'Note', kind: 'text', isNeeded: true }], confirm: 'Leave the note' });
    return given && { ...self, body: { text: given.text } };
  }
  if (verb === 'edit') return edit(task, title);
  if (verb === 'blockers') return blockers(task, title);
  if (verb === 'remove') {
    const waits = [...new Set(tasks.flatMap(({ blocks }) => blocks))].map((id) => `#${id}`).join(', ');
    const text = `Remove ${isOne ? 'this task' : 'these tasks'} from the list?${waits === '' ? '' : ` ${waits} will not wait for ${isOne ? 'it' : 'them'} any more.`}`;
    return (await ask({ title, text, confirm: isOne ? 'Remove the task' : 'Remove the tasks' })) && { ...self, body: {} };
  }
  const isSure = isOne && verb === 'reopen' && task.state !== 'completed' ? {} : await ask({
    title,
    text: !isOne ? undefined : verb === 'cancel' ? 'Cancel this task?' : 'It is done. Reopen it?',
    confirm: verb === 'reopen' ? 'Reopen' : isOne ? 'Cancel the task' : 'Cancel the tasks',
  });
  return isSure && { ...self, body: {} };
}

/** What can be said of a task otherwise; its description only where that is known. @param {Task} task @param {string} [description] @returns {import('./ask.js').Field[]} */
export const fieldsOf = (task, description) => [
  { name: 'subject', label: 'Subject', value: task.subject, isNeeded: true },
  ...(description === undefined ? [] : [{ name: 'description', label: 'Description', kind: /** @type {const} */ ('text'), value: description }]),
  { name: 'priority', label: 'Priority', kind: 'choice', choices: ['', 'critical', 'high', 'medium', 'low'], value: task.priority ?? '' },
  { name: 'group', label: 'Group', value: task.group ?? '' },
];

/** The fields that were given another value. @param {import('./ask.js').Field[]} fields @param {Record<string, unknown>} given */
export const changed = (fields, given) =>
  Object.fromEntries(fields.filter(({ name, value = '' }) => given[name] !== value.replace(/\r\n?/g, '\n')).map(({ name }) => [name, given[name] ?? '']));

/** @param {Task} task @param {string} title */
async function edit(task, title) {
  const fields = fieldsOf(task);
  const given = await ask({ title, fields, confirm: 'Save' });
  const body = given === null ? {} : changed(fields, given);
  return Object.keys(body).length === 0 ? null : { as: () => null, body };
}

/** @param {Task} task @param {string} title */
async function blockers(task, title) {
  const was = task.blocked_by;
  const given = await ask({ title, fields: [{ name: 'ids', label: 'Waits for, by number', value: was.join(', ') }], confirm: 'Save' });
  if (given === null) return null;
  const now = (given.ids ?? '').split(/[\s,;#]+/).filter((it) => it !== '');
  const [add, remove] = [now.filter((it) => !was.includes(it)), was.filter((it) => !now.includes(it))];
  const n = remove.length + Math.sign(add.length);
  // Each that is removed is a change of its own; only one change is taken back at once.
  return n === 0 ? null : { as: () => null, body: { add, remove }, isOnce: n === 1 };
}

/** Asks for the rest, and sends. @param {Verb} verb @param {string} list @param {Task} task */
export async function act(verb, list, task) {
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  const given = await prepare(verb, list, [task]);
  if (given === null || !(await send(verb, list, task, given)) || verb !== 'remove') return;
  if (route.peek().task === task.id) go(toList(list));
}

/** Sends, shows the card where it goes, and remembers what can be taken back. @param {Verb} verb @param {string} list @param {Task} task @param {Given} given */
export const send = (verb, list, task, given) =>
  sent(request(verb, list, task, given), () => {
    const text = `#${task.id}: ${word(verb).toLowerCase()}`;
    undoable.value = verb === 'answer' || given.isOnce === false ? null : { list, as: given.as(task), text };
    say(text);
  });

/** The verb as a word. @param {Verb} verb */
const word = (verb) => VERBS[verb].label.replace(/( as)?…/, '');

/** Sends a verb for one task. @param {Verb} verb @param {string} list @param {Task} task @param {Given} given */
async function request(verb, list, task, { as, body }) {
  const name = nameOf(list, task.id);
  const goes = VERBS[verb].lane;
  setFault(name, null);
  if (goes !== null) wait(name, laneOf(task), goes, task.id);
  try {
    await post(`/v1/tasks/${part(list)}/${part(task.id)}/${verb}`, body, { as: as(task) });
  } catch (fault) {
    settle(name);
    setFault(name, fault instanceof Error ? fault.message : String(fault));
    throw fault;
  }
}

/** The menu of several tasks: one question, a verb for each that takes it, one answer. @param {string} list @param {Task[]} tasks */
export async function menuOfAll(list, tasks) {
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  const takes = (/** @type {Verb} */ verb) => tasks.filter((task) => verbsOf(task).includes(verb));
  const verbs = /** @type {Verb[]} */ (Object.keys(VERBS)).filter((verb) => verb !== 'edit' && verb !== 'blockers' && takes(verb).length > 0);
  const choices = verbs.map((verb) => ({ key: VERBS[verb].key, label: VERBS[verb].label, about: `${takes(verb).length} of ${tasks.length}` }));
  const key = await choose({ title: count(tasks.length, 'marked task'), ...(verbs.length === 0 && { text: 'No verb is for any of them.' }), choices });
  const verb = verbs.find((it) => VERBS[it].key === key);
  const given = verb === undefined ? null : await prepare(verb, list, takes(verb));
  if (verb === undefined || given === null) return;
  const all = takes(verb);
  // Only the last one could be taken back.
  undoable.value = null;
  /** @type {string[]} */
  const refused = [];
  for (const task of all) await request(verb, list, task, given).catch((fault) => refused.push(`#${task.id}: ${fault.message}`));
  const text = `${word(verb)}: ${all.length - refused.length} of ${tasks.length} tasks.`;
  if (refused.length === 0) toast(text);
  else fail(Object.assign(new Error(text), { hint: refused.join(' ') }));
}

/** Waits for the answer to a verb. @param {Promise<any>} answer @param {(told: any) => void} done */
async function sent(answer, done) {
  const works = answer.then(
    (told) => (done(told), true),
    (fault) => (fail(fault), false),
  );
  sending = works;
  const isDone = await works;
  if (sending === works) sending = null;
  return isDone;
}

/** @param {string} name @param {string | null} fault */
function setFault(name, fault) {
  const now = new Map(faults.peek());
  if (fault === null) now.delete(name);
  else now.set(name, fault);
  faults.value = now;
}

/** @param {string} name @param {Lane} from @param {Lane} lane @param {string} id */
function wait(name, from, lane, id) {
  settle(name);
  const timer = setTimeout(() => {
    if (!pending.peek().has(name)) return;
    settle(name);
    fail(`No event came for #${id} in 5 s: it is shown where it was.`);
  }, PATIENCE);
  pending.value = new Map(pending.peek()).set(name, { lane, from, timer });
}

/** The event came, or the verb failed. @param {string} name */
export function settle(name) {
  const was = pending.peek().get(name);
  if (was === undefined) return;
  clearTimeout(was.timer);
  const now = new Map(pending.peek());
  now.delete(name);
  pending.value = now;
}

/**
 * The menu of a task, or of its moves to one lane; where it can be opened, that is in it too.
 * @param {string} list @param {Task} task @param {Verb[]} [verbs] @param {() => void} [open]
 */
export async function menu(list, task, verbs = verbsOf(task), open) {
  const title = `#${task.id} ${task.subject}`;
  if (verbs.length === 1 && verbs[0] !== undefined && open === undefined) return act(verbs[0], list, task);
  const refused = canAct.peek() ? null : 'not connected';
  /** @type {import('./ask.js').Choice[]} */
  const choices = verbs.map((verb) => ({ key: VERBS[verb].key, label: VERBS[verb].label, refused }));
  if (open !== undefined) choices.unshift({ key: 'v', label: 'Open' });
  const text = laneOf(task) === 'blocked' ? `It ${waitsFor(task)}.` : undefined;
  const key = await choose({ title, ...(text === undefined ? {} : { text }), choices });
  if (key === 'v') open?.();
  const verb = verbs.find((it) => VERBS[it].key === key);
  if (verb !== undefined) await act(verb, list, task);
}

/** Takes back the last change of this page. */
export async function undo() {
  // What was just sent is what is meant, or nothing is.
  if (sending !== null && !(await sending)) return;
  const last = undoable.peek();
  if (last === null) return toast('There is nothing of yours to take back.');
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  undoable.value = null;
  try {
    await post(`/v1/tasks/${part(last.list)}/undo`, {}, { as: last.as });
    toast(`Taken back: ${last.text}`);
  } catch (fault) {
    fail(fault);
  }
}

/** @param {string} list */
export async function add(list) {
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  const given = await ask({
    title: 'New task',
    fields: [
      { name: 'subject', label: 'Subject', isNeeded: true },
      { name: 'description', label: 'Description', kind: 'text' },
      { name: 'priority', label: 'Priority', kind: 'choice', choices: ['', 'critical', 'high', 'medium', 'low'] },
      { name: 'group', label: 'Group' },
    ],
    confirm: 'Add',
  });
  if (given === null) return;
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  await sent(post('/v1/tasks', body, { list }), (task) => {
    undoable.value = { list, as: null, text: `#${task.id}: added` };
    toast(`Added #${task.id}`);
  });
}
