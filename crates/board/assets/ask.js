// Questions to the person: a form, a confirmation, a menu. One dialog at a time.
// @ts-check

import { html, signal, useLayoutEffect, useRef } from './preact.js';
import { say } from './notices.js';
import { plain } from './words.js';

/** What had the focus before the question. @type {HTMLElement | null} */
let before = null;

/** Brings the focus back to it; a card may be another element by now. */
function giveBack() {
  const id = before?.dataset.id;
  const at = before?.isConnected || id === undefined ? before : document.querySelector(`[data-id="${CSS.escape(id)}"]`);
  before = null;
  if (at instanceof HTMLElement && (document.activeElement ?? document.body) === document.body) at.focus({ preventScroll: true });
}

/** @typedef {{ name: string, label: string, kind?: 'line' | 'text' | 'choice', choices?: string[], value?: string, isNeeded?: boolean }} Field */
/** @typedef {{ key: string, label: string, shown?: string, about?: string, refused?: string | null }} Choice */
/** @typedef {{ title: string, text?: string, fields?: Field[], choices?: Choice[], confirm?: string, answer: (given: any) => void }} Question */

/** @type {import('./preact.js').Signal<Question | null>} */
export const asked = signal(null);

/**
 * What the fields were given, or null.
 * @param {{ title: string, text?: string, fields?: Field[], confirm: string }} of
 * @returns {Promise<Record<string, string> | null>}
 */
export const ask = (of) => put(of);

/**
 * The key of the choice, or null.
 * @param {{ title: string, text?: string, choices: Choice[] }} of @returns {Promise<string | null>}
 */
export const choose = (of) => put(of);

/** @param {Omit<Question, 'answer'>} of @returns {Promise<any>} */
function put(of) {
  asked.peek()?.answer(null);
  return new Promise((resolve) => {
    /** @type {Question} */
    const mine = {
      ...of,
      answer: (given) => {
        if (asked.peek() === mine) asked.value = null;
        resolve(given);
      },
    };
    asked.value = mine;
  });
}

/** @param {{ field: Field }} of */
export function Input({ field }) {
  const { name, kind = 'line', value = '', isNeeded = false } = field;
  if (kind === 'text') {
    return html`<textarea name=${name} rows="6" required=${isNeeded} defaultValue=${value}></textarea>`;
  }
  if (kind === 'choice') {
    return html`
      <select name=${name}>
        ${(field.choices ?? []).map((it) => html`<option key=${it} value=${it} selected=${it === value}>${it === '' ? '–' : it}</option>`)}
      </select>
    `;
  }
  return html`<input name=${name} required=${isNeeded} defaultValue=${value} autocomplete="off" />`;
}

export function Asked() {
  const question = asked.value;
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // At once: the next key is for it.
  useLayoutEffect(() => {
    if (question === null) return giveBack();
    const at = document.activeElement;
    if (at instanceof HTMLElement && at !== document.body) before = at;
    dialog.current?.showModal();
    const first = dialog.current?.querySelector('input, textarea, select, button:not([disabled])');
    if (first instanceof HTMLElement) first.focus();
  }, [question]);
  if (question === null) return null;

  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    question.answer(Object.fromEntries(new FormData(form)));
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const all = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('button')];
      const at = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
      all[(at + (event.key === 'ArrowDown' ? 1 : all.length - 1)) % all.length]?.focus();
      event.preventDefault();
    }
    const found = question.choices?.find(({ key }) => key === event.key);
    if (found === undefined || event.ctrlKey) return;
    event.preventDefault();
    if (found.refused == null) question.answer(found.key);
    else say(found.refused);
  };
  return html`
    <dialog ref=${dialog} key=${question.title} aria-labelledby="asked" onCancel=${() => question.answer(null)} onClose=${() => question.answer(null)}>
      <h2 id="asked">${plain(question.title)}</h2>
      ${question.text !== undefined && html`<p>${plain(question.text)}</p>`}
      ${question.choices !== undefined
        ? html`
            <ul class=${question.choices.some(({ shown }) => shown !== undefined) ? 'menu keys' : 'menu'} onKeyDown=${press}>
              ${question.choices.map(
                ({ key, label, shown, about, refused }) => html`
                  <li key=${key}>
                    <button type="button" aria-disabled=${refused != null} onClick=${() => (refused == null ? question.answer(key) : say(refused))}>
                      <kbd>${shown ?? key}</kbd><span>${label}</span>
                      <span class="dim">${refused ?? about ?? ''}</span>
                    </button>
                  </li>
                `,
              )}
            </ul>
          `
        : html`
            <form onSubmit=${submit}>
              ${(question.fields ?? []).map(
                (field) => html`<label key=${field.name}><span>${field.label}</span><${Input} field=${field} /></label>`,
              )}
              <p class="buttons">
                <button type="button" onClick=${() => question.answer(null)}>Cancel</button>
                <button class="main">${question.confirm}</button>
              </p>
            </form>
          `}
    </dialog>
  `;
}
