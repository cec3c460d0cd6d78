// The Inbox: all that needs the person, what there is to read, and the item that is open.
//
// The selection stays on its item while others arrive. When its item is settled it moves by itself, and for
// 300 ms nothing is decided: a key meant for one must not hit the next.
// @ts-check

import { html, signal, useEffect, useState } from './preact.js';
import { get } from './api.js';
import { BriefItem, decideAll, decidedHere } from './brief.js';
import { useKeys } from './keys.js';
import { go, part, route, to } from './route.js';
import { connection, repositories } from './state.js';
import { OtherItem } from './others.js';
import { isKnown, toRead, waiting } from './waits.js';
import { age, count, plain, saying } from './words.js';

/** @typedef {import('./waits.js').Item} Item */

/** @type {import('./preact.js').Signal<string | null>} */
const chosen = signal(null);
/** Where the chosen item was in the list, to go on there. */
let place = 0;
/** What was shown last. @type {Item | undefined} */
let last;
/** When the selection moved by itself. */
let movedAt = 0;
const CAREFUL = 300;

/** Whether a decision is meant for the item that is shown. */
export const isMeant = () => Date.now() - movedAt > CAREFUL;

/** What the shown item changed under the person's eyes counts as a move. */
export function itemChanged() {
  movedAt = Date.now();
}

/** @param {Item} item */
const pathOf = (item) =>
  item.kind === 'brief'
    ? `/inbox/${part(item.brief.brief.worker)}/${item.brief.brief.seq}#repo=${item.repo}`
    : `/#screen=inbox`;

/** The item that is open. @param {Item[]} items @returns {Item | undefined} */
function selected(items) {
  const { brief, repo } = route.value;
  const named = brief === null ? undefined : items.find((it) => it.kind === 'brief' && it.brief.brief.worker === brief.worker && String(it.brief.brief.seq) === brief.seq && (repo === null || it.repo === repo));
  const found = named ?? items.find(({ id }) => id === chosen.value);
  if (found !== undefined) {
    place = items.indexOf(found);
    return found;
  }
  return items[Math.min(place, items.length - 1)];
}

/** The brief that the person looks at though it waits no more: somebody else has decided on it. @param {Item[]} items */
function lost(items) {
  const { brief, repo } = route.value;
  const of = brief ?? (last?.kind === 'brief' && last.id === chosen.value ? last.brief.brief : null);
  if (of === null || !isKnown.value) return null;
  const where = (brief === null ? last?.repo : repo) ?? repositories.value[0]?.id ?? '';
  const id = `${where}/${of.worker}/inbox/${of.seq}`;
  return decidedHere.has(id) || items.some((it) => it.id === id) ? null : { id, repo: where, worker: of.worker, seq: of.seq };
}

/** That brief as it is now; until it is known, as it was shown last. @param {Item[]} items @returns {Item | null} */
function useLost(items) {
  const of = lost(items);
  const [now, setNow] = useState(/** @type {Item | null} */ (null));
  useEffect(() => {
    let isHere = true;
    setNow(null);
    if (of === null) return;
    const { id, repo, worker, seq } = of;
    get(`/v1/relay/inbox/${part(worker)}/${seq}`, { repo })
      .then((brief) => isHere && setNow({ id, repo, at: brief.brief.submitted_at, kind: 'brief', brief }))
      .catch(() => isHere && setNow(null));
    return () => {
      isHere = false;
    };
  }, [of?.id]);
  if (of === null) return null;
  return now?.id === of.id ? now : last?.id === of.id ? last : null;
}

/** @param {Item} item @returns {{ sign: string, who: string, text: string }} */
export function titleOf(item) {
  if (item.kind === 'brief') {
    const { worker, ticket, summary } = item.brief.brief;
    return { sign: item.brief.withheld !== null || item.brief.unproposed ? '⚠' : '✉', who: worker, text: `${ticket === null ? '' : `#${ticket} `}${plain(summary)}` };
  }
  if (item.kind === 'report') return { sign: '⚑', who: item.report.report.worker, text: `reports: ${plain(saying(item.report.report.body)).slice(0, 80)}` };
  if (item.kind === 'other') return { sign: '▲', who: '', text: plain(item.need.line) };
  if (item.kind === 'query') return { sign: '?', who: item.message.from, text: plain(item.message.title) };
  const [sign, word] = item.kind === 'stuck' ? ['▲', 'asks'] : ['✗', 'failed'];
  return { sign, who: item.task.owner ?? '', text: `${word}: #${item.task.id} ${plain(item.task.subject)}` };
}

const listed = () => [...waiting.value, ...toRead.value];

export function Inbox() {
  const items = listed();
  const item = useLost(items) ?? selected(items);
  last = item;
  const isOpen = route.value.query.has('open') || route.value.brief !== null;
  /** @param {Item} it @param {boolean} isOpened */
  const select = (it, isOpened = false) => {
    chosen.value = it.id;
    const to = pathOf(it);
    go(isOpened && it.kind !== 'brief' ? `${to}&open` : to, !isOpened);
  };
  useEffect(() => {
    if (!isKnown.peek()) return;
    // The chosen one is settled: the next is chosen, and nobody chose it.
    if (item !== undefined && chosen.peek() !== null && chosen.peek() !== item.id) {
      movedAt = Date.now();
      if (route.peek().brief !== null) select(item);
    }
    chosen.value = item?.id ?? null;
  }, [item?.id, isKnown.value]);
  const step = (/** @type {number} */ by) => {
    const now = listed();
    const at = now.findIndex(({ id }) => id === chosen.peek());
    const next = now[Math.max(0, Math.min(now.length - 1, at + by))];
    if (next !== undefined) select(next);
  };
  useKeys('Inbox', () => [
    { key: 'j', does: 'next item', run: () => step(1) },
    { key: 'ArrowDown', shown: '↓', does: 'next item', run: () => step(1) },
    { key: 'k', does: 'item before', run: () => step(-1) },
    { key: 'ArrowUp', shown: '↑', does: 'item before', run: () => step(-1) },
    { key: 'Y', does: 'approve all that you have read', run: () => void decideAll(waiting.peek()) },
  ], []);
  if (!isKnown.value) return html`<main id="main" tabindex="-1" class="inbox" aria-busy="true"><h1 class="unseen">Inbox</h1></main>`;
  if (item === undefined) return html`<${Nothing} />`;
  const briefs = items.filter(({ kind }) => kind === 'brief').length;
  const isSeveral = repositories.value.length > 1;
  const rows = (/** @type {Item[]} */ of) => html`
    <ul>
      ${of.map((it) => {
        const { sign, who, text } = titleOf(it);
        const isIt = it.id === item.id;
        return html`
          <li key=${it.id}>
            <button type="button" aria-current=${isIt ? 'true' : undefined} tabindex=${isIt ? 0 : -1} onClick=${() => select(it, true)}>
              <span class=${`sign kind-${it.kind}`} aria-hidden="true">${sign}</span>
              ${who && html`<b>${plain(who)}</b> `}<span class="title">${text}</span>
              <span class="dim">${isSeveral ? `${repositories.value.find(({ id }) => id === it.repo)?.name ?? ''} ` : ''}${age(it.at)}</span>
            </button>
          </li>
        `;
      })}
    </ul>
  `;
  const n = waiting.value.length;
  return html`
    <main id="main" tabindex="-1" class=${isOpen ? 'inbox open' : 'inbox'}>
      <h1 class="unseen">Inbox</h1>
      <section class="waiting" aria-labelledby="inbox">
        <h2 id="inbox">${n === 0 ? 'Nothing needs you' : `${n} ${n === 1 ? 'needs' : 'need'} you`}</h2>
        ${rows(waiting.value)}
        ${toRead.value.length > 0 && html`<h2>To read <span class="dim">${toRead.value.length}</span></h2>${rows(toRead.value)}`}
        ${briefs > 1 && html`<p><button type="button" onClick=${() => decideAll(items)} disabled=${connection.value !== 'live'}>Approve those read… <kbd>Y</kbd></button></p>`}
      </section>
      <section class="item" aria-label="The open item">
        <p class="back"><button type="button" onClick=${() => go(to('inbox'))}>‹ ${count(items.length, 'item')}</button></p>
        ${item.kind === 'brief' ? html`<${BriefItem} key=${item.id} item=${item} />` : html`<${OtherItem} key=${item.id} item=${item} />`}
      </section>
    </main>
  `;
}

function Nothing() {
  const workers = repositories.value.flatMap((it) => it.workers).filter(({ liveness, status }) => status === 'active' && liveness !== 'silent');
  return html`
    <main id="main" tabindex="-1" class="page">
      <h1>Nothing needs you</h1>
      <p>${count(workers.length, 'worker')} ${workers.length === 1 ? 'shows' : 'show'} a sign of life. <a href=${to('board')}>The board</a></p>
    </main>
  `;
}
