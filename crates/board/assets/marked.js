// Agents' text exactly as it is: hidden characters, trailing blanks and wraps are marked.
//
// It is only ever text; nothing here makes markup or links of it.
// @ts-check

import { html, useLayoutEffect, useRef, useState } from './preact.js';
import { OUTCOMES, parts, widthOf } from './words.js';

/** A text on one line. @param {{ text: string, isWhole?: boolean }} of */
export function Marked({ text, isWhole = false }) {
  return parts(text, isWhole).map(({ text: it, isMark }, n) => (isMark ? html`<mark key=${n}>${it}</mark>` : it));
}

/** A long line as pieces of so many columns. @param {string} text @param {number} width */
function pieces(text, width) {
  const cut = [];
  let piece = '';
  let used = 0;
  for (const it of text) {
    const own = widthOf(it);
    if (used + own > width) {
      cut.push(piece);
      piece = '';
      used = 0;
    }
    piece += it;
    used += own;
  }
  return [...cut, piece];
}

/** A body in the place's own width, each wrap marked. @param {{ text: string, children?: unknown }} of */
export function Exactly({ text, children }) {
  const place = useRef(/** @type {HTMLPreElement | null} */ (null));
  const [width, setWidth] = useState(80);
  useLayoutEffect(() => {
    const box = place.current;
    if (box === null) return;
    const look = () => {
      const ruler = box.querySelector('.ruler');
      const one = ruler === null ? 8 : ruler.getBoundingClientRect().width / 10;
      const style = getComputedStyle(box);
      const room = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      setWidth(Math.max(20, Math.floor(room / one) - 2));
    };
    const seen = new ResizeObserver(look);
    seen.observe(box);
    look();
    return () => seen.disconnect();
  }, []);
  return html`
    <pre ref=${place} class="exactly" tabindex="0" aria-label="The words, as they will be delivered"><span class="ruler" aria-hidden="true">0000000000</span>${text.split('\n').map((line, n) =>
      pieces(line, width).map((piece, m, all) => html`<span key=${`${n}.${m}`}><${Marked} text=${piece} isWhole=${m === all.length - 1} />${m < all.length - 1 && html`<mark class="wrap" aria-hidden="true">↩</mark>`}${'\n'}</span>`),
    )}${children}</pre>
  `;
}

/** An address that may be followed. */
const LINK = /\bhttps?:\/\/[^\s<>"'`‹›]+[^\s<>"'`‹›.,;:!?)\]]/g;

/** A line with its http(s) addresses as links. @param {{ text: string }} of */
function Linked({ text }) {
  const found = [];
  let last = 0;
  for (const { 0: it, index } of text.matchAll(LINK)) {
    found.push(html`<${Marked} key=${last} text=${text.slice(last, index)} />`);
    found.push(html`<a key=${index} href=${it} target="_blank" rel="noreferrer noopener">${it}</a>`);
    last = index + it.length;
  }
  return [...found, html`<${Marked} key="rest" text=${text.slice(last)} />`];
}

const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;
const HEADING = /^#{1,6}\s+/;
const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
/** The cells of a row. @param {string} line */
const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').map((it) => it.trim());
const isRow = (/** @type {string | undefined} */ line) => line !== undefined && line.includes('|');

/** A text without fences: headings, tables, lists and paragraphs, by the lines. @param {string} text */
function blocks(text) {
  const lines = text.split('\n');
  const made = [];
  for (let n = 0; n < lines.length; ) {
    const first = n;
    const take = (/** @type {(line: string) => boolean} */ isOne) => {
      const taken = [];
      for (; n < lines.length && isOne(lines[n] ?? ''); n += 1) taken.push(lines[n] ?? '');
      return taken;
    };
    const isTable = () => isRow(lines[n]) && isRow(lines[n + 1]) && RULE.test(lines[n + 1] ?? '');
    const line = lines[n] ?? '';
    if (line.trim() === '') n += 1;
    else if (HEADING.test(line)) {
      n += 1;
      made.push(html`<h3 key=${first}><${Linked} text=${line.replace(HEADING, '')} /></h3>`);
    } else if (isTable()) {
      const [head = '', , ...rows] = take(isRow);
      made.push(html`<div key=${first} class="wide-table" tabindex="0" role="region" aria-label="Table"><table>
        <thead><tr>${cells(head).map((it, m) => html`<th key=${m} scope="col"><${Linked} text=${it} /></th>`)}</tr></thead>
        <tbody>${rows.map((row, k) => html`<tr key=${k}>${cells(row).map((it, m) => html`<td key=${m} class=${OUTCOMES[it]?.kind}><${Linked} text=${OUTCOMES[it]?.word ?? it} /></td>`)}</tr>`)}</tbody>
      </table></div>`);
    } else if (ITEM.test(line)) {
      made.push(html`<ul key=${first}>${take((it) => ITEM.test(it)).map((it, m) => html`<li key=${m}><${Linked} text=${it.trimStart()} /></li>`)}</ul>`);
    } else {
      const own = take((it) => it.trim() !== '' && !HEADING.test(it) && !ITEM.test(it) && (n === first || !isTable()));
      made.push(html`<p key=${first}>${own.map((it, k) => html`<span key=${k}>${k > 0 && html`<br />`}<${Linked} text=${it} /></span>`)}</p>`);
    }
  }
  return made;
}

/** A longer text: headings, paragraphs, lists, tables, fenced code. @param {{ text: string }} of */
export function Prose({ text }) {
  const parts = text.trim().split(/^(```[^\n]*\n[\s\S]*?(?:\n```|$))/m);
  return html`<div class="prose">
    ${parts.flatMap((part, n) =>
      part.startsWith('```')
        ? [html`<pre key=${n} tabindex="0"><${Marked} text=${part.replace(/^```[^\n]*\n/, '').replace(/\n```$/, '')} /></pre>`]
        : [html`<div key=${n}>${blocks(part)}</div>`],
    )}
  </div>`;
}
