// What happened to a task, in words, the newest first; older lines on demand.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get } from './api.js';
import { moment, plain, STATES } from './words.js';

/** @typedef {{ n: number, at: string, kind: string, actor: string | null, from: TaskState | null, to: TaskState | null, detail: Record<string, any> }} Line */

const PAGE = 50;
/** A value is shown up to here. */
const LONGEST = 80;
/** @type {Record<string, (line: Line) => string>} */
const WORDS = {
  'task.created': () => 'added',
  'task.noted': () => 'left a note',
  'task.linked': ({ detail }) => `made it wait for #${detail.blocked_by ?? '?'}`,
  'task.unlinked': ({ detail }) => `it waits for #${detail.blocked_by ?? '?'} no more`,
  'task.undone': () => 'took a change back',
};
/** What other lines and columns say already. */
const TOLD = ['status', 'owner', 'flagpost', 'blocks', 'blockedBy', 'notes'];

/** @param {unknown} it */
function shortened(it) {
  const text = it == null ? '–' : typeof it === 'string' ? it : JSON.stringify(it);
  return plain(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

/** The values that a change has changed, at any depth: their names, before and after. @param {unknown} of @returns {[string, unknown, unknown][]} */
function changes(of) {
  if (of === null || typeof of !== 'object') return [];
  return Object.entries(of).filter(([name]) => !TOLD.includes(name)).flatMap(([name, it]) => (Array.isArray(it) ? [/** @type {[string, unknown, unknown]} */ ([name, it[0], it[1]])] : changes(it)));
}

/** @param {{ line: Line }} of */
function Happened({ line }) {
  const { at, kind, actor, from, to, detail } = line;
  const isMove = from !== null && to !== null && from !== to;
  return html`
    <li><time datetime=${at}>${moment(at)}</time> <b>${plain((WORDS[kind] ?? (() => kind.replace(/^(task|land)\./, '').replaceAll('_', ' ')))(line))}</b>
      ${isMove && html` <span>${STATES[from]?.word ?? from} → ${STATES[to]?.word ?? to}</span>`}
      <span class="dim"> by ${plain(actor ?? 'unknown')}${detail.observed === true && ', outside Flagpost'}</span>
      ${changes(detail.changes).map(([name, was, is]) => html`<div key=${name} class="changed"><span class="dim">${plain(name)}</span> ${shortened(was)} → ${shortened(is)}</div>`)}
    </li>
  `;
}

/** It is asked for again when one of `moved` and `line` is another. @param {{ list: string, id: string, moved: unknown, line: unknown }} of */
export function History({ list, id, moved, line }) {
  const [told, setTold] = useState(/** @type {{ lines: Line[], truncated: boolean } | null} */ (null));
  const [fault, setFault] = useState('');
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => {
    let isHere = true;
    get(`/v1/tasks/${encodeURIComponent(list)}/${encodeURIComponent(id)}/history`, { limit: String(limit) })
      .then((it) => isHere && (setTold(it), setFault('')))
      .catch((/** @type {Error} */ it) => isHere && setFault(it.message));
    return () => {
      isHere = false;
    };
  }, [list, id, moved, line, limit]);
  if (fault === '' && (told === null || told.lines.length === 0)) return null;
  return html`
    <section><h2>History</h2>
      ${fault !== '' && html`<p class="warn">${fault}</p>`}
      <ol class="notes">${[...(told?.lines ?? [])].reverse().map((it) => html`<${Happened} key=${it.n} line=${it} />`)}</ol>
      ${told?.truncated && html`<p><button type="button" onClick=${() => setLimit(limit + PAGE)}>Older</button></p>`}
    </section>
  `;
}
