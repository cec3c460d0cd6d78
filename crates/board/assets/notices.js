// Toasts, and what is said aloud to a screen reader.
// @ts-check

import { html, signal } from './preact.js';
import { plain } from './words.js';

/** @typedef {{ n: number, text: string, isError: boolean, hint: string | null }} Toast */
/** @type {import('./preact.js').Signal<Toast[]>} */
const toasts = signal([]);
/** Said aloud: one's own acts and new items of the Inbox. */
const aloud = signal('');
const TIME = 4000;
let next = 1;

/** @param {string} text */
export function say(text) {
  aloud.value = text;
}

/** @param {string} text */
export function toast(text) {
  show({ n: next++, text, isError: false, hint: null });
}

/** @param {string} text */
export const copy = (text) => navigator.clipboard.writeText(text).then(() => toast('Copied.'));

/** An error stays until it is closed. @param {unknown} fault */
export function fail(fault) {
  const text = fault instanceof Error ? fault.message : String(fault);
  const hint = fault instanceof Error && 'hint' in fault ? /** @type {string | null} */ (fault.hint) : null;
  show({ n: next++, text, isError: true, hint });
}

/** @param {Toast} it */
function show(it) {
  say(it.text);
  toasts.value = [...toasts.value, it].slice(-3);
  if (!it.isError) setTimeout(() => close(it.n), TIME);
}

/** @param {number} n */
function close(n) {
  toasts.value = toasts.value.filter((it) => it.n !== n);
}

/** A command for the terminal, to be copied. @param {{ text: string }} of */
export const Command = ({ text }) => html`<code>${text}</code> <button type="button" onClick=${() => copy(text)}>Copy</button>`;

export function Toasts() {
  return html`
    <div class="toasts">
      ${toasts.value.map(
        (it) => html`
          <div key=${it.n} class=${it.isError ? 'toast error' : 'toast'}>
            <p>${plain(it.text)}${it.hint !== null && html`<br /><span class="dim">${plain(it.hint)}</span>`}</p>
            ${it.isError && html`<button type="button" onClick=${() => close(it.n)}>Close</button>`}
          </div>
        `,
      )}
    </div>
    <div class="unseen" role="status" aria-live="polite">${aloud.value}</div>
  `;
}
