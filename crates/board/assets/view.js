// The part of a drawing that is in sight: moved by pointer, wheel and arrows, scaled by buttons and keys.
//
// It is a transform of the whole, which draws no card again.
// @ts-check

import { useLayoutEffect, useRef } from './preact.js';

const LEAST = 0.35;
const MOST = 2;
const STEP = 1.25;
/** So far an arrow moves, so much stays free around a card, and so much of the drawing stays in sight. */
const MOVE = 80;
const FREE = 16;

/** @typedef {{ width: number, height: number, card_width: number, card_height: number, cards: { x: number, y: number }[] }} Size */

/** @param {Size | null} layout @param {string} of what is drawn: another one is fitted anew */
export function useView(layout, of) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const at = useRef({ x: FREE, y: FREE, k: 1, shown: '', held: /** @type {{ x: number, y: number, isFar: boolean } | null} */ (null) }).current;
  const size = useRef(/** @type {Size} */ ({ width: 1, height: 1, card_width: 1, card_height: 1, cards: [] }));
  size.current = layout ?? size.current;

  /** @param {number} x @param {number} y @param {number} [k] */
  const put = (x, y, k = at.k) => {
    const box = place.current;
    const svg = box?.firstElementChild;
    if (box == null || !(svg instanceof SVGElement)) return;
    const within = (/** @type {number} */ to, /** @type {number} */ long, /** @type {number} */ room) => Math.max(Math.min(MOVE - long * k, FREE), Math.min(Math.max(room - MOVE, FREE), to));
    Object.assign(at, { x: within(x, size.current.width, box.clientWidth), y: within(y, size.current.height, box.clientHeight), k });
    svg.style.transform = `translate(${at.x}px, ${at.y}px) scale(${at.k})`;
  };
  /** @param {number} by @param {number} [x] @param {number} [y] the point that stays */
  const zoom = (by, x = (place.current?.clientWidth ?? 0) / 2, y = (place.current?.clientHeight ?? 0) / 2) => {
    const k = Math.max(LEAST, Math.min(MOST, at.k * by));
    put(x - ((x - at.x) * k) / at.k, y - ((y - at.y) * k) / at.k, k);
  };
  /** @param {number} least */
  const fit = (least) => {
    const { clientWidth = 1, clientHeight = 1 } = place.current ?? {};
    const { width, height } = size.current;
    put(FREE, FREE, Math.max(least, Math.min(1, (clientWidth - 2 * FREE) / width, (clientHeight - 2 * FREE) / height)));
  };
  /** Brings a card into sight. @param {{ x: number, y: number }} card */
  const show = ({ x, y }) => {
    const { clientWidth = 0, clientHeight = 0 } = place.current ?? {};
    const near = (/** @type {number} */ from, /** @type {number} */ start, /** @type {number} */ long, /** @type {number} */ room) =>
      Math.min(Math.max(from, FREE - start * at.k), room - FREE - (start + long) * at.k);
    put(near(at.x, x, size.current.card_width, clientWidth), near(at.y, y, size.current.card_height, clientHeight));
  };
  useLayoutEffect(() => {
    if (layout === null || place.current === null) return;
    if (at.shown === of) return put(at.x, at.y);
    at.shown = of;
    // At first what is there can be read.
    fit(0.7);
    const first = layout.cards[0];
    if (first !== undefined) show(first);
  }, [layout, of]);

  /** @param {number} dx @param {number} dy */
  const move = (dx, dy) => (/** @type {KeyboardEvent} */ { target }) => {
    const tree = target instanceof Element ? target.closest('.tree') : null;
    if (tree === null) put(at.x - dx * MOVE, at.y - dy * MOVE);
    else tree.scrollBy(0, dy * MOVE);
  };
  /** @param {PointerEvent} event */
  const drag = (event) => {
    const { held } = at;
    if (held === null) return;
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.isFar && Math.hypot(x - at.x, y - at.y) < 5) return;
    held.isFar = true;
    place.current?.setPointerCapture(event.pointerId);
    put(x, y);
  };
  const drop = () => {
    at.held = null;
  };
  return {
    place,
    keys: [
      { key: '-', does: 'zoom out', run: () => zoom(1 / STEP) },
      { key: '+', does: 'zoom in', run: () => zoom(STEP) },
      { key: '0', does: 'zoom to fit', run: () => fit(LEAST) },
      { key: 'ArrowLeft', shown: '←', does: 'to the left', run: move(-1, 0) },
      { key: 'ArrowRight', shown: '→', does: 'to the right', run: move(1, 0) },
      { key: 'ArrowUp', shown: '↑', does: 'up', run: move(0, -1) },
      { key: 'ArrowDown', shown: '↓', does: 'down', run: move(0, 1) },
    ],
    pointer: {
      onPointerDown: (/** @type {PointerEvent} */ event) => {
        if (event.button === 0) at.held = { x: event.clientX - at.x, y: event.clientY - at.y, isFar: false };
      },
      onPointerMove: drag,
      onPointerUp: drop,
      onPointerCancel: drop,
      onDragStart: (/** @type {Event} */ event) => event.preventDefault(),
      onWheel: (/** @type {WheelEvent} */ event) => {
        event.preventDefault();
        const box = place.current?.getBoundingClientRect();
        if (event.ctrlKey) zoom(event.deltaY > 0 ? 1 / STEP : STEP, event.clientX - (box?.left ?? 0), event.clientY - (box?.top ?? 0));
        else put(at.x - event.deltaX, at.y - event.deltaY);
      },
    },
    show,
  };
}
