// The patch of one file as git writes it: its lines with the numbers of the new file, and the remarks on them.
//
// Remarks stay in this page, also while other screens are shown, until they are sent.
// @ts-check

import { html, signal, useMemo, useState } from './preact.js';
import { withQuery } from './api.js';
import { ask } from './ask.js';
import { useAsked } from './asked.js';
import { CLASS, WORD } from './diff.js';
import { Marked } from './marked.js';
import { plain } from './words.js';

/** @typedef {{ path: string, n: number, words: string }} Remark */
/** @typedef {{ sign: ' ' | '+' | '-' | '@', text: string, n: number | null }} Line */

/** So many lines are shown at first, and so many more each time. */
const STEP = 2000;

/** Of each task, by its name. @type {import('./preact.js').Signal<Map<string, Remark[]>>} */
const remarks = signal(new Map());
/** @param {string} of @returns {Remark[]} */
export const remarksOn = (of) => remarks.value.get(of) ?? [];
/** @param {string} of @param {Remark[]} now */
export const keepRemarks = (of, now) => {
  remarks.value = new Map(remarks.peek()).set(of, now);
};

/** Asks for a remark on a line, or for other words of the one that is there. @param {string} of @param {string} path @param {number} n */
export async function remark(of, path, n) {
  const here = (/** @type {Remark} */ it) => it.path === path && it.n === n;
  const value = remarksOn(of).find(here)?.words ?? '';
  const given = await ask({ title: `${path}:${n}`, fields: [{ name: 'words', label: 'Remark on this line', kind: 'text', value, isNeeded: true }], confirm: 'Keep' });
  const words = given?.words?.trim() ?? '';
  if (words !== '') keepRemarks(of, [...remarksOn(of).filter((it) => !here(it)), { path, n, words }]);
}

/** The lines; of what stands before the first hunk, what is not said elsewhere. @param {string} patch @returns {Line[]} */
function linesOf(patch) {
  /** @type {Line[]} */
  const lines = [];
  // Before the first hunk.
  let n = -1;
  for (const text of patch.replace(/\n$/, '').split('\n')) {
    const sign = text[0] ?? ' ';
    const hunk = /^@@ -\S+ \+(\d+)/.exec(text);
    if (hunk !== null) n = Number(hunk[1]);
    if (hunk !== null || (n < 0 ? !/^(diff|index|---|\+\+\+) /.test(text) : !' +-'.includes(sign))) lines.push({ sign: '@', text, n: null });
    else if (n >= 0) lines.push({ sign: /** @type {Line['sign']} */ (sign), text: text.slice(1), n: sign === '-' ? null : n++ });
  }
  return lines;
}

/** It is asked for when it is shown. @param {{ of: string, place: string, repo: string | undefined, path: string }} of */
export function Patch({ of, place, repo, path }) {
  const { answer, fault } = useAsked(withQuery(place, { repo, path }), false);
  const lines = useMemo(() => linesOf(answer?.files[0]?.patch ?? ''), [answer]);
  const [most, setMost] = useState(STEP);
  if (answer === null) return html`<p class="dim">${fault === '' ? '…' : plain(fault)}</p>`;
  const own = new Map(remarksOn(of).filter((it) => it.path === path).map((it) => [it.n, it.words]));
  /** @param {MouseEvent} event */
  const press = ({ target }) => {
    const line = target instanceof Element ? target.closest('[data-n]') : null;
    // Whoever marks words to copy them remarks on nothing.
    if (line instanceof HTMLElement && getSelection()?.isCollapsed !== false) void remark(of, path, Number(line.dataset.n));
  };
  return html`
    <div class="diff patch" onClick=${press}>
      ${lines.slice(0, most).map(({ sign, text, n }, at) =>
        sign === '@'
          ? html`<p key=${at} class="dim"><${Marked} text=${text} /></p>`
          : html`
              <div key=${at} class=${CLASS[sign]} data-n=${n ?? undefined}>
                ${n === null ? html`<span></span>` : html`<button type="button" tabindex="-1" aria-label=${`Line ${n}: remark`}>${n}</button>`}
                <span aria-hidden="true">${sign}</span>
                <span><span class="unseen">${WORD[sign]}</span><${Marked} text=${text} isWhole=${true} /></span>
              </div>
              ${n !== null && own.has(n) && html`<p key=${`${at} remark`} class="remark">${plain(own.get(n) ?? '')}</p>`}
            `,
      )}
    </div>
    ${lines.length > most && html`<p><button type="button" onClick=${() => setMost(most + STEP)}>More lines <span class="dim">${lines.length - most}</span></button></p>`}
  `;
}
