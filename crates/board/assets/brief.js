// A brief, exactly as it will be delivered, and the decision on it.
//
// Each decision names the hash of the envelope that was on the screen. It is taken only once the end of the
// body was in sight, and it cannot be undone; none is offered.
// @ts-check

import { html, useEffect, useRef, useState } from './preact.js';
import { post, Refusal } from './api.js';
import { ask } from './ask.js';
import { Diff } from './diff.js';
import { isMeant, itemChanged } from './inbox.js';
import { useKeys } from './keys.js';
import { Exactly, Marked } from './marked.js';
import { fail, say, toast } from './notices.js';
import { canAct } from './state.js';
import { askAgain, waiting } from './waits.js';
import { age, count, isNarrow, left, moment } from './words.js';

/** @typedef {Extract<import('./waits.js').Item, { kind: 'brief' }>} BriefWaits */

/** The briefs that this page has decided on, by the ids of their items. @type {Set<string>} */
export const decidedHere = new Set();

/** Items whose end was in sight, each with its envelope. @type {Set<string>} */
const readToEnd = new Set();

/** What the buttons of a narrow screen cover is not in sight. */
const BELOW_NARROW = '0px 0px -180px 0px';

/**
 * Sends a decision on what was seen. @param {string} repo @param {Brief} seen
 * @param {{ decision?: string, reason?: string, body?: string }} of @returns {Promise<boolean>}
 */
async function decide(repo, seen, of) {
  const { worker, seq } = seen.brief;
  const id = `${repo}/${worker}/inbox/${seq}`;
  const word = WORDS[of.decision ?? 'ratified'];
  try {
    const { decided } = await post('/v1/relay/outbox/ratify', { worker, seq, seen: seen.envelope, ...of }, { repo });
    if (decided[0]?.already) toast(`Nothing was decided: ${worker} ${seq} was ${word} already.`);
    else {
      decidedHere.add(id);
      say(`${worker} ${seq}: ${word}`);
    }
    await askAgain();
    return decidedHere.has(id);
  } catch (fault) {
    await askAgain();
    const isConflict = fault instanceof Refusal && fault.status === 409;
    const waits = waiting.peek().some((it) => it.id === id);
    fail(isConflict ? new Refusal(409, `Nothing was decided: ${fault.message}`, waits ? 'Read what is shown now, and decide again.' : fault.hint) : fault);
    return false;
  }
}

/** @type {Record<string, string>} */
const WORDS = { ratified: 'approved', edited: 'edited and approved', rejected: 'rejected' };

/** Approves those that were read to their end, one by one with what was seen. @param {import('./waits.js').Item[]} items */
export async function decideAll(items) {
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  const plain = items.filter((it) => it.kind === 'brief').filter((it) => it.brief.withheld === null && !it.brief.unproposed && it.brief.stage === 'pending');
  if (plain.length === 0) return toast('No brief can be approved as it is.');
  const read = plain.filter(({ id, brief }) => readToEnd.has(`${id} ${brief.envelope}`));
  const rest = plain.length - read.length;
  const stay = rest === 0 ? '' : `${count(rest, 'brief')} not read to the end: left as ${rest === 1 ? 'it is' : 'they are'}.`;
  if (read.length === 0) return toast(`Nothing was decided. ${stay}`);
  const names = read.map(({ brief: { brief } }) => `${brief.worker} ${brief.seq}`).join(', ');
  const sure = await ask({ title: `Approve ${count(read.length, 'brief')}?`, text: stay === '' ? names : `${names}. ${stay}`, confirm: `Approve ${read.length}` });
  if (sure === null) return;
  let n = 0;
  for (const { repo, brief } of read) n += (await decide(repo, brief, {})) ? 1 : 0;
  toast(`${n} of ${read.length} approved.`);
}

/**
 * Whether the end of this text was in sight, and where its end is to stand. Another text is not read yet.
 * @param {string} text @param {boolean} isShown
 * @returns {[boolean, { current: HTMLElement | null }]}
 */
export function useEndInSight(text, isShown) {
  const [read, setRead] = useState(/** @type {string | null} */ (null));
  const end = useRef(/** @type {HTMLElement | null} */ (null));
  const isRead = read === text;
  useEffect(() => {
    if (isRead || !isShown || end.current === null) return;
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setRead(text);
    }, { rootMargin: isNarrow.peek() ? BELOW_NARROW : '0px' });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [isRead, isShown, text]);
  return [isRead, end];
}

/** @param {{ item: BriefWaits }} of */
export function BriefItem({ item }) {
  const { brief: shown, repo } = item;
  const { brief, body, envelope, withheld, unproposed, stage, verdict } = shown;
  const [isEditing, setEditing] = useState(false);
  const [was, setWas] = useState(/** @type {string | null} */ (null));
  const last = useRef({ envelope, body });
  const [isAtEnd, end] = useEndInSight(envelope, !isEditing);

  // It changed while it was open: the difference is shown, and its end must be seen again.
  useEffect(() => {
    if (last.current.envelope === envelope) return;
    setWas(last.current.body);
    itemChanged();
    last.current = { envelope, body };
  }, [envelope]);
  useEffect(() => {
    if (isAtEnd) readToEnd.add(`${item.id} ${envelope}`);
  }, [isAtEnd, envelope]);

  const isExpired = stage === 'expired' || (brief.expires_at !== null && left(brief.expires_at) === null);
  const why = !canAct.value ? 'not connected' : verdict !== null ? 'it is decided already' : isExpired ? 'it has expired' : isAtEnd ? null : 'read to its end first';
  /** @param {() => Promise<unknown>} run @param {string | null} [refused] */
  const once = (run, refused = null) => () => {
    if (!canAct.peek()) fail('Not connected: verbs are off.');
    else if (refused !== null) toast(`Not decided: ${refused}.`);
    else if (isMeant()) void run();
    else say('The item has just changed: press again.');
  };
  const letThrough = once(async () => {
    if (withheld !== null || unproposed) {
      const text = withheld?.told ?? 'Nobody is on record for proposing it.';
      if ((await ask({ title: 'Approve it all the same?', text, confirm: 'Approve' })) === null) return;
    }
    await decide(repo, shown, {});
  }, why);
  const reject = once(async () => {
    const given = await ask({ title: `Reject ${brief.worker} ${brief.seq}`, fields: [{ name: 'reason', label: 'Why; the worker is told', isNeeded: true }], confirm: 'Reject' });
    if (given !== null) await decide(repo, shown, { decision: 'rejected', reason: given.reason ?? '' });
  }, verdict !== null ? why : null);
  const edit = once(async () => setEditing(true), verdict !== null || isExpired ? why : null);
  useKeys('This brief', () => [
    { key: 'y', does: 'approve it', run: letThrough },
    { key: 'n', does: 'reject it', run: reject },
    { key: 'e', does: 'edit it', run: edit },
  ], [envelope, why, isEditing]);

  const bytes = new TextEncoder().encode(body).length;
  return html`
    <h2>To ${brief.worker}${brief.ticket !== null && ` · #${brief.ticket}`}</h2>
    <p class="dim">${brief.kind} · number ${brief.seq} · from <${Marked} text=${brief.controller} /> · ${age(brief.submitted_at)} ago${brief.in_reply_to !== null && ` · in reply to ${brief.in_reply_to}`}</p>
    <p class="dim">${brief.expires_at === null ? 'Does not expire' : isExpired ? html`<strong class="bad">Expired ${moment(brief.expires_at)}</strong>` : `Expires in ${left(brief.expires_at)}`} · ${count(bytes, 'byte')} · envelope <code title=${envelope}>${envelope.slice(0, 12)}…</code></p>
    ${withheld !== null && html`<p class="warn">⚠ Withheld: <${Marked} text=${withheld.told} /> <code>${withheld.settle_with}</code></p>`}
    ${verdict !== null && html`<p class="warn">${verdict.by === null ? 'Somebody' : html`<${Marked} text=${verdict.by} />`} has decided on it: ${WORDS[verdict.decision] ?? verdict.decision}, ${age(verdict.at)} ago.${verdict.reason !== null && html` <${Marked} text=${verdict.reason} />`} The first decision stands.</p>`}
    ${unproposed && html`<p class="warn">⚠ Nobody is on record for proposing it.</p>`}
    ${was !== null && html`<div class="warn"><p>⚠ It changed: here is what is new.</p><${Diff} was=${was} now=${body} /></div>`}
    ${isEditing
      ? html`<${Edit} body=${body} close=${() => setEditing(false)} send=${(/** @type {{}} */ of) => decide(repo, shown, of)} />`
      : html`
          <h3>${verdict === null ? 'Exactly as it will be delivered' : 'Its words now'}</h3>
          <${Exactly} text=${body}><span ref=${end} class="end" key=${envelope}>── end · ${count(bytes, 'byte')} ──</span></${Exactly}>
          ${verdict === null && html`<p class="decide">
            <button type="button" class="main" aria-disabled=${why !== null} onClick=${letThrough}>Approve <kbd>y</kbd></button>
            <button type="button" aria-disabled=${isExpired || !canAct.value} onClick=${edit}>Edit… <kbd>e</kbd></button>
            <button type="button" class="bad" aria-disabled=${!canAct.value} onClick=${reject}>Reject… <kbd>n</kbd></button>
            ${why !== null && html`<span class="dim">${why}</span>`}
          </p>`}
        `}
  `;
}

/** @param {{ body: string, close: () => void, send: (of: object) => Promise<boolean> }} of */
function Edit({ body, close, send }) {
  const [text, setText] = useState(body);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);
  const isSame = text === body;
  const done = async () => {
    if (text.trim() === '') return toast('An empty brief is not sent.');
    if (isSame && (await ask({ title: 'Nothing was changed', text: 'Approve it as it is?', confirm: 'Approve' })) === null) return;
    if (await send(isSame ? {} : { decision: 'edited', body: text })) close();
  };
  return html`
    <label><span>The words that the worker gets</span>
      <textarea ref=${field} class="exactly" rows=${Math.min(24, body.split('\n').length + 3)} value=${text} onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea>
    </label>
    ${!isSame && html`<h3>Changed</h3><${Diff} was=${body} now=${text} />`}
    <p class="decide">
      <button type="button" class="main" disabled=${!canAct.value} onClick=${done}>${isSame ? 'Approve as it is…' : 'Approve this'}</button>
      <button type="button" onClick=${close}>Back</button>
    </p>
  `;
}
