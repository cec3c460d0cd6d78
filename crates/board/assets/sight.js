// What of a long list is in sight: only that is in the page. All its entries have one height.
// @ts-check

import { useLayoutEffect, useState } from './preact.js';

/** Entries above and below what is in sight. */
const BEYOND = 2;

/** A length in rem as pixels. @param {number} rem */
export const pixels = (rem) => Math.round(rem * parseFloat(getComputedStyle(document.documentElement).fontSize));

/** @param {{ current: HTMLElement | null }} box what scrolls @param {number} height of an entry @param {number} n how many there are */
export function useSight(box, height, n) {
  const [sight, setSight] = useState({ top: 0, height: 600 });
  const look = () => {
    if (box.current === null) return;
    // One drawing for each entry that comes into sight, not for each pixel.
    const top = Math.floor(box.current.scrollTop / height) * height;
    const now = box.current.clientHeight;
    if (top !== sight.top || now !== sight.height) setSight({ top, height: now });
  };
  useLayoutEffect(() => {
    if (box.current === null) return;
    look();
    const seen = new ResizeObserver(look);
    seen.observe(box.current);
    return () => seen.disconnect();
  }, [sight]);
  return {
    first: Math.max(0, Math.min(n, Math.floor(sight.top / height)) - BEYOND),
    last: Math.min(n, Math.ceil((sight.top + sight.height) / height) + 1 + BEYOND),
    look,
    /** Scrolls an entry into sight, which begins so far below the top. @param {number} at @param {number} [below] */
    bring: (at, below = 0) => {
      const it = box.current;
      if (it === null) return;
      if (at * height < it.scrollTop) it.scrollTop = at * height;
      if ((at + 1) * height + below > it.scrollTop + it.clientHeight) it.scrollTop = (at + 1) * height + below - it.clientHeight;
    },
  };
}
