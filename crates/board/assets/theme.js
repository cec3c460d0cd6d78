// The theme: the system's, dark or light. Kept for this browser.
// @ts-check

import { effect, signal } from './preact.js';

/** @typedef {'system' | 'dark' | 'light'} Theme */
/** @type {Theme[]} */
const THEMES = ['system', 'dark', 'light'];
const NAME = 'flagpost-theme';

const kept = /** @type {Theme} */ (localStorage.getItem(NAME) ?? '');
/** @type {import('./preact.js').Signal<Theme>} */
export const theme = signal(THEMES.includes(kept) ? kept : 'system');

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(NAME, theme.value);
});

export function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
}
