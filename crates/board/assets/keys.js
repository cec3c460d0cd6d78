// Keys: a table for each screen, the two-key `g`, and the help that lists them.
//
// A single key acts only outside fields and dialogs, and can be turned off.
// @ts-check

import { effect, signal, useEffect } from './preact.js';

/** @typedef {{ key: string, does: string, run: (event: KeyboardEvent) => void, shown?: string }} Key */

const NAME = 'flagpost-keys';
/** Whether single keys act. */
export const isOn = signal(localStorage.getItem(NAME) !== 'off');
effect(() => localStorage.setItem(NAME, isOn.value ? 'on' : 'off'));

/** Whether `g` was pressed and the second key is awaited. */
export const isGoing = signal(false);
const GOING = 1000;
let going = 0;

/** The tables that apply, the innermost first. @type {import('./preact.js').Signal<{ title: string, keys: Key[] }[]>} */
export const tables = signal([]);

/**
 * A table of keys for as long as a component is shown.
 * @param {string} title @param {() => Key[]} make @param {unknown[]} [of]
 */
export function useKeys(title, make, of = []) {
  useEffect(() => {
    const table = { title, keys: make() };
    tables.value = [table, ...tables.peek()];
    return () => {
      tables.value = tables.peek().filter((it) => it !== table);
    };
  }, of);
}

/** Focuses the next of these, or another so far from the one in the group that has the focus. @param {string} what @param {number} by @param {string} [group] */
export function focusBy(what, by, group = what) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(what)]);
  const here = document.activeElement?.closest(group);
  all[Math.max(0, Math.min(all.length - 1, all.findIndex((it) => here?.contains(it)) + by))]?.focus();
}

/** @param {EventTarget | null} at */
const isField = (at) =>
  at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement;

/** The name of a key press, as the tables write it. @param {KeyboardEvent} event */
function nameOf(event) {
  const held = event.ctrlKey || event.metaKey ? 'Ctrl-' : event.shiftKey && event.key.length > 1 ? 'Shift-' : '';
  return held + (event.key === ' ' ? 'Space' : event.key);
}

addEventListener('keydown', (event) => {
  const name = nameOf(event);
  if (event.altKey || event.isComposing) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const isAlways = name.startsWith('Ctrl-');
  if (!isAlways && (isField(event.target) || (!isOn.peek() && name.length === 1))) return;
  const isPress = event.target instanceof HTMLElement && event.target.closest('button, a, summary') !== null;
  if (isPress && (name === 'Enter' || name === 'Space')) return;
  const asked = isGoing.peek() ? `g ${name}` : name;
  isGoing.value = false;
  const found = tables.peek().flatMap(({ keys }) => keys).find(({ key }) => key === asked);
  if (found !== undefined) {
    event.preventDefault();
    found.run(event);
  } else if (name === 'g') {
    isGoing.value = true;
    clearTimeout(going);
    going = setTimeout(() => {
      isGoing.value = false;
    }, GOING);
  }
});
