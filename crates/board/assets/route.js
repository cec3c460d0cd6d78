// The address: which screen, and what is selected on it. Everything that can be shown can be linked.
//
// What is looked at is in the path; how it is looked at (screen, filter, order) is in the fragment, which
// never leaves the browser.
// @ts-check

import { computed, signal } from './preact.js';
import { listNames, listOf, repositoryOf } from './state.js';

/** @typedef {'board' | 'list' | 'graph' | 'inbox' | 'fleet' | 'run' | 'landing' | 'messages' | 'files' | 'settings'} Screen */
/** @type {Screen[]} */
export const SCREENS = ['board', 'list', 'graph', 'inbox', 'fleet', 'run', 'landing', 'messages', 'files', 'settings'];

/** The address of the page, as text. */
export const address = signal(location.pathname + location.hash);

/** What the address means. */
export const route = computed(() => {
  const url = new URL(address.value, location.origin);
  const path = url.pathname.split('/').filter((it) => it !== '').map(decodeURIComponent);
  const query = new URLSearchParams(url.hash.slice(1));
  const named = /** @type {Screen} */ (query.get('screen') ?? '');
  const screen = SCREENS.includes(named) ? named : null;
  const [kind, first, second, third] = path;
  return {
    screen: kind === 'inbox' ? 'inbox' : kind === 'runs' ? 'run' : screen ?? (kind === 'lists' ? 'board' : null),
    list: kind === 'lists' ? first ?? null : query.get('list'),
    task: kind === 'lists' && second === 'tasks' ? third ?? null : null,
    brief: kind === 'inbox' && second !== undefined ? { worker: first ?? '', seq: second } : null,
    session: kind === 'runs' ? first ?? null : null,
    isChange: kind === 'lists' && third !== undefined && query.has('diff'),
    repo: query.get('repo'),
    isKnown: kind === undefined || ['lists', 'inbox', 'runs'].includes(kind),
    query,
  };
});

/** A name as a part of an address. */
export const part = encodeURIComponent;

/** The list on the screen: the address's, else that of its repository, else the first by name. */
export const list = computed(() => route.value.list ?? listOf(route.value.repo) ?? listNames.value[0] ?? null);
/** The repository on the screen: the address's, else that of the list. */
export const repository = computed(() => route.value.repo ?? repositoryOf(list.value)?.id ?? '');

/** How many entries of the history are this page's. */
let entries = 0;

/** Back, but never out of the board. */
export function back() {
  if (entries > 0) history.back();
}

/** @param {string} to @param {boolean} [isSame] replaces the entry of the history */
export function go(to, isSame = false) {
  if (to === address.peek()) return;
  if (isSame) history.replaceState(null, '', to);
  else {
    history.pushState(null, '', to);
    entries += 1;
  }
  address.value = to;
}

/** The address with these parts of its fragment; an empty one is left out. @param {Record<string, string>} parts */
export function withParts(parts) {
  const url = new URL(address.value, location.origin);
  const query = new URLSearchParams(url.hash.slice(1));
  for (const [name, value] of Object.entries(parts)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? url.pathname : `${url.pathname}#${query}`;
}

/** The address of a screen. @param {Screen} screen */
export function to(screen) {
  const here = list.value;
  if (screen === 'board' && here !== null) return `/lists/${part(here)}`;
  if ((screen === 'list' || screen === 'graph') && here !== null) return `/lists/${part(here)}#screen=${screen}`;
  const query = new URLSearchParams({ screen });
  if (here !== null) query.set('list', here);
  if (repository.value !== '') query.set('repo', repository.value);
  return `/#${query}`;
}

/** The address of a session. @param {string} repo @param {string} id */
export const toRun = (repo, id) => `/runs/${part(id)}#${new URLSearchParams({ repo })}`;

/** The address of a task, with the board's filter kept. @param {string} of @param {string} id */
export function toTask(of, id) {
  return `/lists/${part(of)}/tasks/${part(id)}${kept(of)}`;
}

/** The address of what a task changes. @param {string} of @param {string} id */
export const toChange = (of, id) => `/lists/${part(of)}/tasks/${part(id)}#screen=landing&diff`;

/** The address of the screen below a task. @param {string} of */
export const toList = (of) => `/lists/${part(of)}${kept(of)}`;

/** The address of the log of a task's agent: in this session, else in the newest. @param {string} of @param {string} id @param {{ id: string, repo: string } | null} [session] @param {number} [attempt] */
export function toLog(of, id, session = null, attempt) {
  const query = new URLSearchParams({ ...(session === null ? { screen: 'run' } : { repo: session.repo }), list: of, log: id, ...(attempt === undefined ? {} : { attempt: String(attempt) }) });
  return `${session === null ? '/' : `/runs/${part(session.id)}`}#${query}`;
}

/** @param {string} of */
function kept(of) {
  const { query: now, list: here } = route.value;
  const query = new URLSearchParams(now);
  query.delete('diff');
  return here === of && query.size > 0 ? `#${query}` : '';
}

addEventListener('popstate', () => {
  entries = Math.max(0, entries - 1);
  address.value = location.pathname + location.hash;
});

// Links of this page, those of a drawing too, change the address without loading it.
document.addEventListener('click', (event) => {
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!plain || link === null || link.hasAttribute('target')) return;
  const url = new URL(link.getAttribute('href') ?? '', location.href);
  if (url.origin !== location.origin) return;
  event.preventDefault();
  if (url.hash === '#main') document.getElementById('main')?.focus();
  else go(url.pathname + url.hash);
});
