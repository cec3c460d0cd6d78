// The difference of two texts, line by line.
// @ts-check

import { html } from './preact.js';
import { Marked } from './marked.js';

/** @typedef {{ sign: ' ' | '+' | '-', text: string }} Line */
/** Texts of more lines are shown as all old, then all new. */
const MOST = 2000;

/** @param {string} was @param {string} now @returns {Line[]} */
export function diff(was, now) {
  const a = was.split('\n');
  const b = now.split('\n');
  if (a.length + b.length > MOST) {
    return [...a.map((text) => line('-', text)), ...b.map((text) => line('+', text))];
  }
  // The longest common part of what comes after each pair of lines.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = /** @type {Uint16Array} */ (common[i]);
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Line[]} */
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(line(' ', a[i] ?? ''));
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(line('-', a[i++] ?? ''));
    else lines.push(line('+', b[j++] ?? ''));
  }
  return lines;
}

/** @param {Line['sign']} sign @param {string} text @returns {Line} */
const line = (sign, text) => ({ sign, text });
export const CLASS = { ' ': 'same', '+': 'added', '-': 'gone' };
export const WORD = { ' ': '', '+': 'new: ', '-': 'gone: ' };

/** @param {{ was: string, now: string }} of */
export function Diff({ was, now }) {
  return html`
    <pre class="diff" tabindex="0" aria-label="Difference">${diff(was, now).map(
      ({ sign, text }, n) => html`<span key=${n} class=${CLASS[sign]}><span class="unseen">${WORD[sign]}</span><span aria-hidden="true">${sign} </span><${Marked} text=${text} isWhole=${true} />${'\n'}</span>`,
    )}</pre>
  `;
}
