// How this browser shows the board: the theme and the density. Kept for this browser.
// @ts-check

import { effect, signal } from './preact.js';

/** @typedef {'system' | 'dark' | 'light'} Theme */
/** @type {Theme[]} */
export const THEMES = ['system', 'dark', 'light'];
/** @typedef {'dense' | 'roomy'} Density */
/** @type {Density[]} */
export const DENSITIES = ['dense', 'roomy'];

/** A choice among some, the first where none was made. @template {string} T @param {string} name @param {T[]} among */
function choice(name, among) {
  const kept = /** @type {T} */ (localStorage.getItem(`flagpost-${name}`) ?? '');
  const chosen = signal(/** @type {T} */ (among.includes(kept) ? kept : among[0]));
  effect(() => {
    document.documentElement.dataset[name] = chosen.value;
    localStorage.setItem(`flagpost-${name}`, chosen.value);
  });
  return chosen;
}

export const theme = choice('theme', THEMES);
export const density = choice('density', DENSITIES);

export function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
}
