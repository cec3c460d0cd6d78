// Agents' text exactly as it is: hidden characters, trailing blanks and wraps are marked.
//
// It is only ever text; nothing here makes markup or links of it.
// @ts-check

import { html, useLayoutEffect, useRef, useState } from './preact.js';
import { parts, widthOf } from './words.js';

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

/** A longer text: paragraphs, lists by their lines, fenced code. @param {{ text: string }} of */
export function Prose({ text }) {
  const blocks = text.trim().split(/^(```[^\n]*\n[\s\S]*?(?:\n```|$))/m);
  return html`<div class="prose">
    ${blocks.flatMap((block, n) =>
      block.startsWith('```')
        ? [html`<pre key=${n} tabindex="0"><${Marked} text=${block.replace(/^```[^\n]*\n/, '').replace(/\n```$/, '')} /></pre>`]
        : block.split(/\n\s*\n/).filter((it) => it.trim() !== '').map((paragraph, m) =>
            html`<p key=${`${n}.${m}`}>${paragraph.split('\n').map((line, k) => html`<span key=${k}>${k > 0 && html`<br />`}<${Linked} text=${line} /></span>`)}</p>`),
    )}
  </div>`;
}
