// What an agent printed, as lines: colours and weight are kept, other escapes dropped, and what is hidden
// is marked. Only the last lines are kept, and of a line only its beginning.
// @ts-check

import { html } from './preact.js';
import { Marked } from './marked.js';
import { plain } from './words.js';

/** @typedef {{ n: number, text: string, shown: import('./preact.js').VNode, raw: string, more: number, before: string }} Line */

/** So many lines are in the page. */
export const MOST = 5000;
/** So many characters of one. */
const LONGEST = 10_000;
/** The escapes of a terminal that are whole. What is left of others is marked. */
const ESCAPES = /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b]*\u001b\\|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;
/** @type {Record<number, string>} */
const WEIGHTS = { 1: 'bold', 2: 'faint', 3: 'italic', 4: 'under' };
/** @type {Record<number, string[]>} */
const ENDED = { 22: ['bold', 'faint'], 23: ['italic'], 24: ['under'] };

/** The classes after a change of colour or weight. @param {string} before @param {string} codes */
function styled(before, codes) {
  let now = before.split(' ').filter((it) => it !== '');
  const colour = (/** @type {string[]} */ of) => {
    now = [...now.filter((it) => !/^c\d$/.test(it)), ...of];
  };
  const all = codes.split(/[;:]/).map(Number);
  for (let n = 0; n < all.length; n += 1) {
    const code = all[n] ?? 0;
    const weight = WEIGHTS[code];
    if (code === 0) now = [];
    else if (weight !== undefined) now = [...now.filter((it) => it !== weight), weight];
    else if (code in ENDED) now = now.filter((it) => !ENDED[code]?.includes(it));
    else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) colour([`c${code % 10}`]);
    else if (code === 39) colour([]);
    else if (code === 38 || code === 48 || code === 58) {
      const isOfTable = all[n + 1] === 5;
      const of = all[n + 2] ?? 16;
      if (code === 38) colour(isOfTable && of < 16 ? [`c${of % 8}`] : []);
      n += isOfTable ? 2 : 4;
    }
  }
  return now.join(' ');
}

export class Printed {
  /** @type {Line[]} */
  lines = [];
  /** Where parts begin that are kept: their bytes, and the number of the first line there. @type {{ from: number, n: number }[]} */
  #parts = [];
  /** Whether lines after the last were left out. */
  isBehind = false;
  #style = '';
  #isOpen = false;
  #n = 0;

  /** Takes in what was printed next, from this byte on; it may end inside of a line. @param {string} text @param {number} from */
  feed(text, from) {
    if (!this.#isOpen) this.#parts.push({ from, n: this.#n + 1 });
    const parts = text.split('\n');
    const end = parts.pop() ?? '';
    const isOpen = end !== '';
    if (isOpen) parts.push(end);
    else if (parts.length === 0) return;
    parts.forEach((part, n) => {
      if (n > 0 || !this.#isOpen) this.#add(part);
      else this.#extend(part);
    });
    this.#isOpen = isOpen;
    this.lines.splice(0, this.lines.length - MOST);
    const first = this.lines[0]?.n ?? 0;
    this.#parts = this.#parts.filter(({ n }) => n >= first);
  }

  /** Where the first part begins that is kept as a whole, in bytes: what is before it can be asked for. */
  get from() {
    return this.#parts[0]?.from ?? 0;
  }

  /** Takes in what was printed before that. Nothing is fed behind it any more where the end had to go. @param {string} text @param {number} from */
  feedBefore(text, from) {
    const first = this.#parts[0]?.n ?? this.#n + 1;
    const kept = this.lines.filter(({ n }) => n >= first);
    const before = new Printed();
    before.#n = first - 1 - text.replace(/\n$/, '').split('\n').length;
    before.feed(text, from);
    this.isBehind ||= before.lines.length + kept.length > MOST;
    this.lines = [...before.lines, ...kept].slice(0, MOST);
    this.#parts = [...before.#parts, ...this.#parts];
  }

  /** @param {string} text */
  #add(text) {
    this.#n += 1;
    this.lines.push(this.#line(this.#n, text, 0, this.#style));
  }

  /** @param {string} text */
  #extend(text) {
    const open = this.lines.pop();
    if (open === undefined) this.#add(text);
    else this.lines.push(this.#line(open.n, open.raw + text, open.more, open.before));
  }

  /** @param {number} n @param {string} whole @param {number} above @param {string} before @returns {Line} */
  #line(n, whole, above, before) {
    const raw = whole.slice(0, LONGEST);
    const more = above + whole.length - raw.length;
    const shown = [];
    let [text, style, last] = ['', before, 0];
    const line = raw.replace(/\r$/, '');
    /** @param {number} to */
    const put = (to) => {
      const part = line.slice(last, to);
      text += part;
      // Most lines are nothing but text, and there are thousands.
      if (style === '' && plain(part) === part) shown.push(part);
      else if (part !== '') shown.push(html`<span key=${last} class=${style}><${Marked} text=${part} /></span>`);
    };
    for (const { 0: escape, 1: codes, 2: end, index } of line.matchAll(ESCAPES)) {
      put(index);
      if (end === 'm') style = styled(style, codes ?? '');
      last = index + escape.length;
    }
    put(line.length);
    if (more > 0) shown.push(html`<mark key="more">… ${more.toLocaleString()} more characters</mark>`);
    this.#style = style;
    return { n, text: text.toLowerCase(), shown: html`<div key=${n}>${shown}${'\n'}</div>`, raw, more, before };
  }
}
