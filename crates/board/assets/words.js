// Words and signs that the screens share: states, ages, agents' text made visible.
// @ts-check

import { signal } from './preact.js';

/** The time, each five seconds: ages follow it. */
export const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 5_000);

const NARROW = matchMedia('(max-width: 56.24em)');
/** Whether a task is a page of its own. */
export const isNarrow = signal(NARROW.matches);
NARROW.addEventListener('change', () => {
  isNarrow.value = NARROW.matches;
});
const PHONE = matchMedia('(max-width: 43.74em)');
/** Whether one column fills the screen. */
export const isPhone = signal(PHONE.matches);
PHONE.addEventListener('change', () => {
  isPhone.value = PHONE.matches;
});

/** @type {Record<TaskState, { sign: string, word: string }>} */
export const STATES = {
  pending: { sign: '○', word: 'pending' },
  claimed: { sign: '◔', word: 'claimed' },
  in_progress: { sign: '◐', word: 'running' },
  completed: { sign: '✓', word: 'done' },
  failed: { sign: '✗', word: 'failed' },
  stuck: { sign: '▲', word: 'stuck' },
  cancelled: { sign: '⊘', word: 'cancelled' },
};

/** How an attempt ended, by the word of the files. @type {Record<string, { sign: string, word: string, kind: string }>} */
export const OUTCOMES = {
  PASS: { sign: '✓', word: 'passed', kind: 'good' },
  PARTIAL: { sign: '▲', word: 'partial', kind: 'waits' },
  FAIL: { sign: '✗', word: 'failed', kind: 'bad' },
};

/** @type {Record<string, string>} */
export const PRIORITY = { critical: '!!!', high: '!!', medium: '', low: '↓' };

/** A span of time in words. @param {number} ms */
export function span(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (minutes < 60) return `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** How long ago. @param {string | null | undefined} at */
export const age = (at) => (at == null ? '' : span(now.value - Date.parse(at)));
/** How long until then; null once it is over. @param {string | null | undefined} at */
export const left = (at) => (at == null || Date.parse(at) < now.value ? null : span(Date.parse(at) - now.value));
/** @param {number} at */
export const clock = (at) => new Date(at).toLocaleTimeString();
/** @param {string | null | undefined} at */
export const moment = (at) => (at == null ? '' : new Date(at).toLocaleString());
/** @param {number} n @param {string} one @param {string} [more] */
export const count = (n, one, more = `${one}s`) => `${n} ${n === 1 ? one : more}`;

/** Characters that are not seen, or change how others are seen: C0 but LF, DEL, C1, bidi, and what has no
 * width. The two selectors that pictures use are left alone. */
const HIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\ufff9-\ufffb]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** The name of a hidden character. @param {string} it */
function nameOf(it) {
  const code = it.codePointAt(0) ?? 0;
  if (code === 9) return '⇥';
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** How many columns a character takes as it is shown. @param {string} it */
export function widthOf(it) {
  if (it === '\t') return 5;
  return it.search(HIDDEN) === 0 ? nameOf(it).length : WIDE.test(it) ? 2 : 1;
}

/** A text on one line, with what is hidden made visible. @param {string} text */
export const plain = (text) => text.replace(/\n/g, ' ').replace(HIDDEN, nameOf);

/** What a message says, in words, where its body is the JSON of its subject. @param {string} body */
export function saying(body) {
  if (!body.trimStart().startsWith('{')) return body;
  let fields;
  try {
    fields = JSON.parse(body);
  } catch {
    return body;
  }
  const { bead_id: bead, task_id: task = bead, title, prompt, summary, reason, status, ...rest } = fields;
  const said = [title, prompt, summary, reason, status].filter((it) => typeof it === 'string' && it !== '').join('\n\n');
  if (said === '') return body;
  const more = Object.entries(rest).map(([name, it]) => `- ${name.replaceAll('_', ' ')}: ${typeof it === 'string' ? it : JSON.stringify(it)}`);
  return [`${task == null ? '' : `task ${task}: `}${said}`, more.join('\n')].filter((it) => it !== '').join('\n\n');
}

/**
 * A text as parts: what is read as it is, and marks for what is hidden.
 * @param {string} text @param {boolean} isWhole whether blanks at its end are the end of a line
 * @returns {{ text: string, isMark: boolean }[]}
 */
export function parts(text, isWhole) {
  const found = [];
  let last = 0;
  const all = [...text.matchAll(HIDDEN), ...(isWhole ? text.matchAll(/ +$/g) : [])].sort((a, b) => a.index - b.index);
  for (const { 0: it, index } of all) {
    if (index > last) found.push({ text: text.slice(last, index), isMark: false });
    const mark = it.startsWith(' ') ? '·'.repeat(it.length) : nameOf(it);
    found.push({ text: it === '\t' ? `${mark}\t` : mark, isMark: true });
    last = index + it.length;
  }
  if (last < text.length) found.push({ text: text.slice(last), isMark: false });
  return found;
}
