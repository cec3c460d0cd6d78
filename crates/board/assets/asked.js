// An answer of the daemon, asked for again when the runs have moved, and not more often than twice a second.
// @ts-check

import { useEffect, useRef, useState } from './preact.js';
import { get } from './api.js';
import { runMoved } from './state.js';

const PAUSE = 500;

/**
 * The answer, and what was said against it. An empty path asks nothing.
 * @param {string} path @param {boolean} [follows] whether it is asked for again @returns {{ answer: any, fault: string }}
 */
export function useAsked(path, follows = true) {
  const [told, setTold] = useState({ path: '', answer: /** @type {any} */ (null), fault: '' });
  const now = useRef('');
  const timer = useRef(0);
  const moved = follows ? runMoved.value : -1;
  now.current = path;
  useEffect(() => {
    if (path === '' || timer.current !== 0) return;
    timer.current = setTimeout(() => {
      timer.current = 0;
      const asked = now.current;
      const put = (/** @type {object} */ it) => now.current === asked && setTold((was) => ({ ...was, path: asked, fault: '', ...it }));
      get(asked).then((answer) => put({ answer }), (/** @type {Error} */ { message: fault }) => put({ fault }));
    }, told.path === path ? PAUSE : 0);
  }, [path, moved]);
  useEffect(() => () => {
    clearTimeout(timer.current);
    now.current = '';
  }, []);
  return told.path === path ? told : { answer: null, fault: '' };
}
