// Answers of the daemon, asked for again when what they tell of has moved, and not more often than it can be read.
// @ts-check

import { useEffect, useRef, useState } from './preact.js';
import { get } from './api.js';
import { fail } from './notices.js';
import { repositories, runMoved } from './state.js';

const PAUSE = 500;
/** What moves at once is asked for once. */
const SETTLED = 200;

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

/**
 * What all repositories answer, asked for again with each `moved`; null until it is there.
 * @param {string} path @param {number} moved @returns {{ repo: Repository, answer: any }[] | null}
 */
export function useAskedOfAll(path, moved) {
  const [all, setAll] = useState(/** @type {{ repo: Repository, answer: any }[] | null} */ (null));
  useEffect(() => {
    const timer = setTimeout(() => {
      const asked = repositories.peek().map(async (repo) => ({ repo, answer: await get(path, { repo: repo.id }) }));
      Promise.all(asked).then(setAll).catch(fail);
    }, all === null ? 0 : SETTLED);
    return () => clearTimeout(timer);
  }, [moved]);
  return all;
}
