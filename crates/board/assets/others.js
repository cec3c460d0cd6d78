// What there is beside briefs, each with the verb or the command that ends it.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get, post } from './api.js';
import { ask } from './ask.js';
import { useEndInSight } from './brief.js';
import { isMeant } from './inbox.js';
import { useKeys } from './keys.js';
import { Exactly, Marked, Prose } from './marked.js';
import { fail, say, toast } from './notices.js';
import { go, part, toChange, toTask } from './route.js';
import { canAct } from './state.js';
import { act } from './verbs.js';
import { askAgain } from './waits.js';
import { age, plain, saying } from './words.js';

/** @typedef {import('./waits.js').Item} Item */
/** @typedef {Exclude<Item, { kind: 'brief' }>} Other */

/** @param {{ item: Other }} of */
export function OtherItem({ item }) {
  if (item.kind === 'report') return html`<${ReportItem} item=${item} />`;
  if (item.kind === 'query') return html`<${QueryItem} item=${item} />`;
  if (item.kind === 'other') return html`<${NeedItem} item=${item} />`;
  return html`<${TaskItem} item=${item} />`;
}

/** @param {{ item: Extract<Item, { kind: 'stuck' | 'failed' }> }} of */
function TaskItem({ item: { kind, list, task } }) {
  const [full, setFull] = useState(/** @type {FullTask | null} */ (null));
  useEffect(() => {
    get(`/v1/tasks/${part(list)}/${part(task.id)}`).then(setFull).catch(fail);
  }, [task]);
  const isAsked = kind === 'stuck';
  const verb = isAsked ? 'answer' : 'reopen';
  const key = isAsked ? 'A' : 'o';
  const run = () => void act(verb, list, task);
  useKeys('This item', () => [{ key, does: verb, run }], [task]);
  return html`
    <h2>${isAsked ? 'A question' : 'It failed'}: <a href=${toTask(list, task.id)}>#${task.id} ${plain(task.subject)}</a></h2>
    <p class="dim">${plain(task.owner ?? '')} · ${age(task.ended_at)} ago · try ${task.attempts}</p>
    ${full?.result != null && (full.result.text === '' ? html`<p class="dim">No words were given.</p>` : html`<${Prose} text=${full.result.text} />`)}
    <p class="decide"><button type="button" class="main" disabled=${!canAct.value} onClick=${run}>${isAsked ? 'Answer…' : 'Reopen'} <kbd>${key}</kbd></button></p>
  `;
}

/** What an agent wants to do. @param {{ item: Extract<Item, { kind: 'other' }> }} of */
function PermissionItem({ item: { repo, need } }) {
  const [asked, setAsked] = useState(/** @type {Permission | null} */ (null));
  const number = need.item.slice(need.item.indexOf('/') + 1);
  const place = `/v1/permissions/${part(number)}`;
  useEffect(() => {
    get(place, { repo }).then(setAsked).catch(fail);
  }, [place]);
  const isIdentical = need.settle_with?.endsWith(' --identical') ?? false;
  const send = (/** @type {'allow' | 'deny'} */ verb, /** @type {object} */ of) =>
    post(`${place}/${verb}`, { identical: isIdentical, ...of }, { repo })
      .then(() => say(verb === 'allow' ? 'Allowed.' : 'Denied.'))
      .catch(fail)
      .finally(askAgain);
  const input = asked?.input ?? {};
  const text = typeof input['command'] === 'string' ? input['command'] : JSON.stringify(input, null, 2);
  const [isAtEnd, end] = useEndInSight(text, asked !== null);
  const isReady = canAct.value && asked !== null;
  const once = (/** @type {() => unknown} */ run) => () => {
    if (!isReady) toast('Not decided: what is asked is not shown yet.');
    else if (isMeant()) void run();
    else say('The item has just changed: press again.');
  };
  const why = asked?.request.is_as_asked === false ? 'it was changed since it was asked' : isAtEnd ? null : 'read to its end first';
  const allow = once(() => (why === null ? send('allow', {}) : toast(`Not allowed: ${why}.`)));
  const deny = once(async () => {
    const given = await ask({ title: `Deny request ${number}`, fields: [{ name: 'reason', label: 'Why; the agent is told' }], confirm: 'Deny' });
    if (given !== null) await send('deny', given.reason ? { reason: given.reason } : {});
  });
  const rule = asked?.always ?? null;
  const always = once(async () => {
    if (why !== null || rule === null) toast(`Not allowed: ${why ?? 'no rule can do that'}.`);
    else if ((await ask({ title: 'Add this rule?', text: rule, confirm: 'Add' })) !== null) await send('allow', { identical: false, always: true });
  });
  useKeys('This request', () => [
    { key: 'y', does: 'allow it', run: allow },
    { key: 'a', does: 'allow it from now on', run: always },
    { key: 'n', does: 'deny it', run: deny },
  ], [asked, isReady, why]);
  if (asked === null) return html`<h2>${plain(need.line)}</h2>`;
  const { request } = asked;
  return html`
    <h2>${plain(need.line)}</h2>
    <p class="dim">${request.client} · request ${number}${request.task !== null && ` · task #${request.task}`} · ${age(request.at)} ago${request.dir !== null && html` · in <${Marked} text=${request.dir} />`}</p>
    ${!request.is_as_asked && html`<p class="warn">⚠ An unknown hand changed it since it was asked: it can only be denied.</p>`}
    <h3>${plain(request.tool)}</h3>
    <${Exactly} text=${text}><span ref=${end} class="end">── end ──</span></${Exactly}>
    <p class="decide">
      <button type="button" class="main" aria-disabled=${!isReady || why !== null} onClick=${allow}>Allow <kbd>y</kbd></button>
      ${rule !== null && html`<button type="button" aria-disabled=${!isReady || why !== null} onClick=${always}>Always… <kbd>a</kbd></button>`}
      <button type="button" class="bad" aria-disabled=${!isReady} onClick=${deny}>Deny… <kbd>n</kbd></button>
      ${why !== null && html`<span class="dim">${why}</span>`}
    </p>
  `;
}

/** Work that a person looks at before it lands. @param {{ need: Need, list: string, task: string }} of */
function ReviewItem({ need: { line, at }, list, task }) {
  const there = toChange(list, task);
  useKeys('This review', () => [{ key: 'v', does: 'its diff', run: () => go(there) }], [there]);
  return html`
    <h2>${plain(line)}</h2>
    <p class="dim">passed ${age(at)} ago · <a href=${toTask(list, task)}>#${task}</a></p>
    <p class="decide"><a class="button main" href=${there}>Diff <kbd>v</kbd></a></p>
  `;
}

/** @param {{ item: Extract<Item, { kind: 'other' }> }} of */
function NeedItem({ item }) {
  const { at, need } = item;
  if (need.kind === 'permission') return html`<${PermissionItem} item=${item} />`;
  if (need.kind === 'review' && need.task !== null) return html`<${ReviewItem} need=${need} list=${need.item.slice(0, need.item.lastIndexOf('/'))} task=${need.task} />`;
  return html`
    <h2>${plain(need.line)}</h2>
    ${at !== null && html`<p class="dim">${age(at)} ago</p>`}
    ${need.settle_with !== null && html`<p>In a terminal: <code>${plain(need.settle_with)}</code></p>`}
  `;
}

/** @param {{ item: Extract<Item, { kind: 'report' }> }} of */
function ReportItem({ item: { repo, report: { report } } }) {
  const read = () =>
    post(`/v1/relay/outbox/${part(report.worker)}/${report.seq}/read`, {}, { repo })
      .then(() => say('Marked as read.'))
      .catch(fail)
      .finally(askAgain);
  useKeys('This report', () => [{ key: 'y', does: 'mark as read', run: () => void read() }], [report.seq]);
  return html`
    <h2>Report of ${plain(report.worker)}${report.ticket !== null && ` · #${plain(report.ticket)}`}</h2>
    <p class="dim">${report.kind} · number ${report.seq} · ${age(report.produced_at)} ago</p>
    <${Prose} text=${saying(report.body)} />
    ${report.next_action !== null && html`<p>Next, it thinks: ${plain(report.next_action)}</p>`}
    <p class="decide"><button type="button" class="main" disabled=${!canAct.value} onClick=${read}>Read <kbd>y</kbd></button></p>
  `;
}

/** @param {{ item: Extract<Item, { kind: 'query' }> }} of */
function QueryItem({ item: { repo, message } }) {
  const [text, setText] = useState('');
  /** @param {SubmitEvent} event */
  const send = (event) => {
    event.preventDefault();
    post('/v1/messages', { subject: 'REPLY', re: message.place, body: text, ratify: true }, { repo })
      .then(() => say('Answered.'))
      .catch(fail)
      .finally(askAgain);
  };
  return html`
    <h2>${plain(message.from)} asks</h2>
    <p class="dim">${message.place} · ${age(message.at)} ago${message.thread !== null && ` · ${plain(message.thread)}`}</p>
    <${Prose} text=${saying(message.body)} />
    <form onSubmit=${send}>
      <label><span>Answer</span><textarea rows="5" required value=${text} onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea></label>
      <p class="decide"><button class="main" disabled=${!canAct.value}>Answer</button></p>
    </form>
  `;
}
