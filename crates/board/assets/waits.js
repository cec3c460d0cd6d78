// What needs the person, as the daemon lists it for every face; and what is there to read: reports, leases that
// ran out.
//
// Asked for again once mail, or a task that ended badly, has settled. Each row is shown as the thing that it is
// about, where that is known here.
// @ts-check

import { batch, computed, effect, signal } from './preact.js';
import { get } from './api.js';
import { canAct, keepOrder, listNames, lists, mailMoved, repositories } from './state.js';
import { fail, say } from './notices.js';
import { now } from './words.js';

/**
 * @typedef {{ id: string, repo: string, at: string | null } & (
 *   | { kind: 'brief', brief: Brief }
 *   | { kind: 'report', report: Report }
 *   | { kind: 'query', message: Message['message'] }
 *   | { kind: 'stuck' | 'failed' | 'lease', list: string, task: Task }
 *   | { kind: 'other', need: Need })} Item
 */

/** So long after the last transition it is asked again. */
const SETTLED = 200;

/** The rows of the daemon. @type {import('./preact.js').Signal<Need[]>} */
const needs = signal([]);
/** Briefs, questions and reports in full. @type {import('./preact.js').Signal<Item[]>} */
const mail = signal([]);
/** Tasks that ended badly, by list and id. @type {import('./preact.js').Signal<Map<string, Item>>} */
const tasks = signal(new Map());
/** Claims by list and id. Each change of a claim is noted; whether one is over is looked at with the clock. @type {Map<string, Item>} */
const leases = new Map();
const leaseEnded = signal(0);
/** Counts the changes of tasks that ended badly. */
const tasksMoved = signal(0);
/** Whether what waits is known. */
export const isKnown = signal(false);

const lapsed = computed(() => {
  void leaseEnded.value;
  return [...leases.values()].filter(({ at }) => Date.parse(at ?? '') < now.value);
});

/** A message's name, however its number is written. @param {string} name */
const named = (name) => name.replace(/\/0*(\d+)$/, '/$1');

/** A row as what it is about. @param {Need} need @returns {Item} */
function itemOf(need) {
  const repo = repositories.value.find(({ name }) => name === need.repo)?.id ?? '';
  const isTask = need.kind === 'stuck' || need.kind === 'failed';
  const id = `${repo}/${named(need.item)}`;
  const known = isTask ? tasks.value.get(need.item) : mail.value.find((it) => it.id === id && it.kind !== 'report');
  return known ?? { id: `${id} ${need.kind}`, repo, at: need.at, kind: 'other', need };
}

/** All that needs the person, in the order of every face. */
export const waiting = computed(() => needs.value.map(itemOf));

/** What is there beside it, the oldest first. */
export const toRead = computed(() => {
  const shown = new Set(waiting.value.map(({ id }) => id));
  const rest = [...mail.value.filter(({ id, kind }) => kind !== 'brief' && !shown.has(id)), ...lapsed.value];
  return rest.sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1));
});

/** @param {string} repo @param {string} list @param {Task} task @returns {Item | null} */
function ofTask(repo, list, task) {
  const id = `${list}/${task.id}`;
  if (task.state === 'stuck' || task.state === 'failed') return { id, repo, at: task.ended_at, kind: task.state, list, task };
  const ends = task.claim?.expires_at ?? null;
  return ends === null ? null : { id, repo, at: ends, kind: 'lease', list, task };
}

/** A claim that is no more, or was renewed. @param {string} id */
function drop(id) {
  const was = leases.get(id);
  if (was === undefined) return;
  leases.delete(id);
  if (Date.parse(was.at ?? '') < now.peek()) leaseEnded.value += 1;
}

/** @param {string} list @param {Task[]} changed @param {string[]} removed */
function look(list, changed, removed) {
  const next = new Map(tasks.peek());
  let differs = false;
  for (const task of changed) {
    const id = `${list}/${task.id}`;
    const item = ofTask(lists.get(list)?.repo ?? '', list, task);
    const isLease = item?.kind === 'lease';
    drop(id);
    differs ||= next.has(id) || (item !== null && !isLease);
    next.delete(id);
    if (item !== null) (isLease ? leases : next).set(id, item);
  }
  for (const id of removed) {
    drop(`${list}/${id}`);
    differs = next.delete(`${list}/${id}`) || differs;
  }
  if (!differs) return;
  batch(() => {
    tasks.value = next;
    tasksMoved.value += 1;
  });
}
keepOrder(look);

async function ask() {
  const asked = repositories.peek().map(async ({ id: repo }) => {
    const [{ briefs }, { reports }, { messages }] = await Promise.all([
      get('/v1/relay/inbox', { repo }),
      get('/v1/relay/outbox', { repo, unread: 'true' }),
      get('/v1/messages/open', { repo }),
    ]);
    /** @type {Item[]} */
    const items = briefs.map((/** @type {Brief} */ brief) => ({ id: `${repo}/${brief.brief.worker}/inbox/${brief.brief.seq}`, repo, at: brief.brief.submitted_at, kind: 'brief', brief }));
    const queries = messages.filter((/** @type {Message} */ it) => (it.message.subject === 'QUERY' || it.message.subject === 'STUCK') && it.message.place.includes('/outbox/'));
    const places = new Set(queries.map((/** @type {Message} */ it) => it.message.place));
    for (const { message } of queries) items.push({ id: `${repo}/${named(message.place)}`, repo, at: message.at, kind: 'query', message });
    for (const report of reports) {
      const place = `${report.report.worker}/outbox/${report.report.seq}`;
      if (!places.has(place)) items.push({ id: `${repo}/${place}`, repo, at: report.report.produced_at, kind: 'report', report });
    }
    return items;
  });
  const were = new Set(waiting.peek().map(({ id }) => id));
  const [rows, items] = await Promise.all([get('/v1/needs', { all: 'true' }), Promise.all(asked)]);
  const isFirst = !isKnown.peek();
  batch(() => {
    needs.value = rows.needs;
    mail.value = items.flat();
  });
  const fresh = waiting.peek().filter(({ id }) => !were.has(id)).length;
  if (!isFirst && fresh > 0) say(`${fresh} new in the Inbox.`);
}

/** Asks now; an act of the person changed it. */
export const askAgain = () =>
  ask().catch(fail).finally(() => {
    isKnown.value = true;
  });

effect(() => {
  void mailMoved.value;
  void tasksMoved.value;
  if (!canAct.value || listNames.value.length + repositories.value.length === 0) return;
  const timer = setTimeout(askAgain, isKnown.peek() ? SETTLED : 0);
  return () => clearTimeout(timer);
});
