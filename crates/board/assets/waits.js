// What needs the person, as the daemon lists it for every face; and what is there to read.
//
// Asked for again once mail, or a task that ended badly, has settled. A row is shown as what it is about.
// @ts-check

import { batch, computed, effect, signal } from './preact.js';
import { get } from './api.js';
import { canAct, keepOrder, listNames, lists, mailMoved, repositories } from './state.js';
import { fail, say } from './notices.js';

/**
 * @typedef {{ id: string, repo: string, at: string | null } & (
 *   | { kind: 'brief', brief: Brief }
 *   | { kind: 'report', report: Report }
 *   | { kind: 'query', message: Message['message'] }
 *   | { kind: 'stuck' | 'failed', list: string, task: Task }
 *   | { kind: 'other', need: Need })} Item
 */

/** So long after the last transition it is asked again. */
const SETTLED = 200;

/** The rows of the daemon. @type {import('./preact.js').Signal<Need[]>} */
const needs = signal([]);
/** Briefs, questions and reports in full. @type {import('./preact.js').Signal<Item[]>} */
const mail = signal([]);
/** Counts the changes of tasks that ended badly. */
const tasksMoved = signal(0);
/** Whether what waits is known. */
export const isKnown = signal(false);

/** A message's name, however its number is written. @param {string} name */
const named = (name) => name.replace(/\/0*(\d+)$/, '/$1');

/** A row as what it is about. @param {Need} need @returns {Item} */
function itemOf(need) {
  const { kind, item, at } = need;
  const repo = repositories.value.find(({ name }) => name === need.repo)?.id ?? '';
  if (kind === 'stuck' || kind === 'failed') {
    const list = item.slice(0, item.lastIndexOf('/'));
    const task = lists.get(list)?.tasks.get(need.task ?? '')?.value;
    if (task !== undefined) return { id: item, repo, at, kind, list, task };
  }
  const id = `${repo}/${named(item)}`;
  const known = mail.value.find((it) => it.id === id);
  // The time of an account is when it opens.
  return known ?? { id: `${id} ${kind}`, repo, at: kind === 'parked' ? null : at, kind: 'other', need };
}

/** All that needs the person, in the order of every face. */
export const waiting = computed(() => needs.value.map(itemOf));

/** What is there beside it. */
export const toRead = computed(() => {
  const shown = new Set(waiting.value.map(({ id }) => id));
  return mail.value.filter(({ id, kind }) => kind !== 'brief' && !shown.has(id));
});

keepOrder((list, changed, removed) => {
  const shown = new Set(needs.peek().map(({ item }) => item));
  const ids = [...changed.map(({ id }) => id), ...removed];
  if (changed.some(({ state }) => state === 'stuck' || state === 'failed') || ids.some((id) => shown.has(`${list}/${id}`))) tasksMoved.value += 1;
});

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
