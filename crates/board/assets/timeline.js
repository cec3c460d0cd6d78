// When the attempts of a run were: a row for each task, a bar for each attempt, a band for each wave.
//
// A bar that runs grows by the clock of this page, never by a request.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { canAct } from './state.js';
import { plain, span } from './words.js';

/** @typedef {{ began: string, ended: string }} Time */
/** @typedef {Time & { attempt: number, end: string }} Attempt */
/** @typedef {{ id: string, subject: string, attempts: Attempt[] }} Row */
/** @typedef {Time & { live: boolean, waves: (Time & { wave: number, of: number })[], tasks: Row[] }} Times */

/** How an attempt ended, or for what it waits, with the state whose colour it has. @type {Record<string, { sign: string, word: string, state: string }>} */
const ENDS = {
  passed: { sign: '✓', word: 'passed', state: 'completed' },
  partial: { sign: '▲', word: 'partial', state: 'stuck' },
  failed: { sign: '✗', word: 'failed', state: 'failed' },
  running: { sign: '◐', word: 'running', state: 'in_progress' },
  asks: { sign: '▲', word: 'asks', state: 'stuck' },
  parked: { sign: '⊘', word: 'parked', state: 'pending' },
  stopped: { sign: '⊘', word: 'stopped', state: 'pending' },
  cut_off: { sign: '⊘', word: 'cut off', state: 'pending' },
};
const endOf = (/** @type {string | undefined} */ end) => ENDS[end ?? ''] ?? { sign: '○', word: end ?? 'not begun', state: 'pending' };
const AXIS = [0, 1, 2, 3];

/** The end of the time that is drawn, in milliseconds. @param {Times} of */
function useEnd({ live, ended }) {
  const [end, setEnd] = useState(Date.parse(ended));
  const grows = live && canAct.value;
  useEffect(() => {
    const [told, since] = [Date.parse(ended), Date.now()];
    setEnd(told);
    if (!grows) return;
    const timer = setInterval(() => setEnd(told + Date.now() - since), 1000);
    return () => clearInterval(timer);
  }, [ended, grows]);
  return end;
}

/**
 * The tasks, where the last attempt of one that waits for something is shown as that: `left` says for what.
 * @param {Times} times @param {{ id: string, how?: string }[]} left @returns {Row[]}
 */
export function rowsOf({ tasks }, left) {
  const waits = new Map(left.map(({ id, how }) => [id, how]));
  return tasks.map((task) => {
    const how = waits.get(task.id);
    if (how !== 'asks' && how !== 'parked') return task;
    return { ...task, attempts: task.attempts.map((it, n) => (n === task.attempts.length - 1 ? { ...it, end: how } : it)) };
  });
}

/** @param {{ times: Times, tasks: Row[], taskLink: (task: Row) => unknown, logLink: (task: string, attempt: number, text: string) => unknown }} of */
export function Timeline({ times, tasks, taskLink, logLink }) {
  const first = Date.parse(times.began);
  const last = useEnd(times);
  const whole = Math.max(1, last - first);
  const part = (/** @type {number} */ ms) => `${((100 * ms) / whole).toFixed(3)}%`;
  const until = (/** @type {Attempt} */ { end, ended }) => (end === 'running' ? last : Date.parse(ended));
  /** @param {number} from @param {number} to */
  const place = (from, to) => ({ left: part(from - first), width: part(Math.max(0, to - from)) });
  const isLong = whole > 600_000;
  const clock = (/** @type {number} */ at) => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', ...(isLong ? {} : { second: '2-digit' }) });
  const isLast = (/** @type {number} */ n) => times.live && n === times.waves.length - 1;
  return html`
    <section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
      <div class="timeline" tabindex="0" role="region" aria-labelledby="timeline">
        <div class="row axis" aria-hidden="true"><span></span><span class="track">${AXIS.map((n) => html`<span key=${n} class=${n === AXIS.length - 1 ? 'last' : ''} style=${{ left: part((whole * n) / (AXIS.length - 1)) }}>${clock(first + (whole * n) / (AXIS.length - 1))}</span>`)}</span></div>
        ${times.waves.length > 0 && html`<div class="row" aria-hidden="true"><span></span><span class="track">${times.waves.map((it, n) => html`<span key=${it.wave} class="wave" style=${place(Date.parse(it.began), isLast(n) ? last : Date.parse(it.ended))}>Wave ${it.wave}</span>`)}</span></div>`}
        <ul>${tasks.map((task) => {
          const now = task.attempts.at(-1);
          const { sign, word, state } = endOf(now?.end);
          const took = task.attempts.reduce((all, it) => all + until(it) - Date.parse(it.began), 0);
          return html`
            <li key=${task.id} class="row"><span class="name">${taskLink(task)}</span>
              <span class="track">${task.attempts.map((it) => {
                const told = `Try ${it.attempt}: ${endOf(it.end).word}, ${span(until(it) - Date.parse(it.began))}`;
                return html`<span key=${it.attempt} class=${`try ${endOf(it.end).state}`} role="img" aria-label=${told} title=${told} style=${place(Date.parse(it.began), until(it))}></span>`;
              })}</span>
              <span class="ended"><span class=${`sign ${state}`} aria-hidden="true">${sign}</span> ${word} <span class="dim">${span(took)}${task.attempts.length > 1 && ` · ${task.attempts.length} tries`}</span> ${logLink(task.id, now?.attempt ?? 1, `log of #${task.id}`)}</span></li>
          `;
        })}</ul>
      </div>
    </section>
  `;
}

/** The waves as rows of signs: a task is in the wave in which it began. @param {{ waves: Times['waves'], tasks: Row[], unbegun: number }} of */
export function Waves({ waves, tasks, unbegun }) {
  const began = (/** @type {Row} */ task) => Date.parse(task.attempts[0]?.began ?? '');
  const rows = waves.map((wave, n) => {
    const next = waves[n + 1];
    const own = tasks.filter((task) => began(task) >= Date.parse(wave.began) && (next === undefined || began(task) < Date.parse(next.began)));
    return { name: `Wave ${wave.wave}`, ends: own.map(({ attempts }) => endOf(attempts.at(-1)?.end)) };
  });
  if (unbegun > 0) rows.push({ name: 'Not begun', ends: Array(unbegun).fill(endOf(undefined)) });
  return html`
    <ul class="waves">${rows.map(({ name, ends }) => {
      const told = [...Map.groupBy(ends, ({ word }) => word)].map(([word, all]) => `${all.length} ${word}`).join(', ');
      return html`<li key=${name}><span class="dim">${plain(name)}</span> <span role="img" aria-label=${told} title=${told}>${ends.map(({ sign, state }, n) => html`<span key=${n} class=${`sign ${state}`}>${sign}</span>`)}</span></li>`;
    })}</ul>
  `;
}
