// The palette: every action, task and worker by name. `>` verbs, `#` tasks, `@` workers. Other words are also
// looked for in all texts, once nobody types.
// @ts-check

import { html, signal, useEffect, useLayoutEffect, useRef, useState } from './preact.js';
import { get } from './api.js';
import { current } from './card.js';
import { tables } from './keys.js';
import { go, list, part, route, to, toTask } from './route.js';
import { lists, repositories, repositoryOf, taskOf } from './state.js';
import { act, add, undo, verbsOf, VERBS } from './verbs.js';
import { plain, STATES } from './words.js';

/** @typedef {{ sign: string, text: string, shown?: unknown, key: string, run: () => void }} Entry */
/** @typedef {{ kind: string, list: string, task: string, state: TaskState, repository: string, worker: string, seq: number, file: string, line: number, field: string, snippet: { before: string, found: string, after: string } }} Hit */

/** @type {import('./preact.js').Signal<string | null>} */
const opened = signal(null);
/** So many are shown. */
const MOST = 30;

/** @param {string} text */
export function openPalette(text) {
  opened.value = text;
}

/** How well the letters of a search lie in a text, in their order; a negative number is no match. @param {string} text @param {string} sought */
function rank(text, sought) {
  const where = text.toLowerCase();
  const whole = where.indexOf(sought);
  if (whole >= 0) return whole;
  let at = -1;
  for (const letter of sought) {
    at = where.indexOf(letter, at + 1);
    if (at < 0) return -1;
  }
  return 1000 + at;
}

/** @returns {Entry[]} */
function verbs() {
  const name = list.peek();
  const id = route.peek().task ?? current.peek();
  const task = id === null ? undefined : taskOf(name, id);
  const ofTask = name === null || task === undefined ? [] : verbsOf(task).map((verb) => ({ sign: '>', text: `${VERBS[verb].label} #${task.id} ${plain(task.subject)}`, key: VERBS[verb].key, run: () => void act(verb, name, task) }));
  const ofKeys = tables.peek().flatMap(({ title, keys }) =>
    keys.map(({ key, shown, does, run }) => ({ sign: '>', text: `${title}: ${does}`, key: shown ?? key, run: () => run(new KeyboardEvent('keydown')) })),
  );
  const own = name === null ? [] : [
    { sign: '>', text: 'New task', key: 'c', run: () => void add(name) },
    { sign: '>', text: 'Undo my last change', key: 'u', run: () => void undo() },
  ];
  return [...ofTask, ...own, ...ofKeys];
}

/** @returns {Entry[]} */
function tasks() {
  const name = list.peek() ?? '';
  const all = [...(lists.get(name)?.tasks.values() ?? [])].map((it) => it.peek());
  return all.map((task) => ({ sign: STATES[task.state].sign, text: `#${task.id} ${plain(task.subject)}`, key: '', run: () => go(toTask(name, task.id)) }));
}

/** @returns {Entry[]} */
const workers = () =>
  repositories.peek().flatMap(({ workers: all }) => all.map(({ id }) => ({ sign: '@', text: `@${id}`, key: '', run: () => go(`${to('fleet')}&worker=${part(id)}`) })));

/** @param {string} text */
function found(text) {
  const kind = text[0] ?? '';
  const of = kind === '>' ? verbs() : kind === '#' ? tasks() : kind === '@' ? workers() : [...verbs(), ...workers(), ...tasks()];
  const sought = (kind === '>' ? text.slice(1) : text).trim().toLowerCase();
  if (sought === '') return of.slice(0, MOST);
  const ranked = of.map((entry) => ({ entry, rank: rank(entry.text, sought) })).filter((it) => it.rank >= 0);
  return ranked.sort((a, b) => a.rank - b.rank).slice(0, MOST).map(({ entry }) => entry);
}

/** Where a text is, as an entry that leads there. @param {Hit} hit @returns {Entry} */
function entryOf({ kind, list: of, task, state, repository, worker, seq, file, line, field, snippet: { before, found: it, after } }) {
  const [sign, name, path] =
    kind === 'task' ? [STATES[state].sign, `#${task}`, toTask(of, task)]
    : kind === 'brief' ? ['✉', `${worker}/${seq}`, `/inbox/${part(worker)}/${seq}#repo=${repository}`]
    : kind === 'report' ? ['⚑', `${worker}/${seq}`, to('inbox')]
    : kind === 'session' ? ['◐', plain(file), `/runs/${part(file.split('/', 1)[0] ?? '')}#repo=${repository}`]
    : ['·', `line ${line}`, to('run')];
  const shown = html`${name} <span class="dim">${field.replace('_', ' ')}</span> ${plain(before)}<mark>${plain(it)}</mark>${plain(after)}`;
  return { sign, text: '', shown, key: '', run: () => go(path) };
}

/** So long nobody types, and the texts are looked through. */
const REST = 250;

/** What the texts hold; null while they are looked through. @param {string} text @returns {{ entries: Entry[], fault: string } | null} */
function useHits(text) {
  const sought = /^\s*[>#@]/.test(text) ? '' : text.trim();
  const [hits, setHits] = useState({ of: '', entries: /** @type {Entry[]} */ ([]), fault: '' });
  useEffect(() => {
    if (sought === '') return;
    let isHere = true;
    const told = (/** @type {Entry[]} */ entries, fault = '') => isHere && setHits({ of: sought, entries, fault });
    const timer = setTimeout(() => {
      const name = list.peek();
      get('/v1/search', { repo: repositoryOf(name)?.id, list: name, text: sought, limit: String(MOST) })
        // A subject that has the words is found by its name already.
        .then(({ hits: all }) => told(all.filter((/** @type {Hit} */ it) => it.kind !== 'task' || it.field !== 'subject').map(entryOf)))
        .catch(({ message }) => told([], message));
    }, REST);
    return () => {
      isHere = false;
      clearTimeout(timer);
    };
  }, [sought]);
  return sought === '' ? { entries: [], fault: '' } : hits.of === sought ? hits : null;
}

export function Palette() {
  return opened.value === null ? null : html`<${Open} />`;
}

function Open() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [text, setText] = useState(opened.peek() ?? '');
  const [at, setAt] = useState(0);
  const hits = useHits(text);
  const entries = [...found(text), ...(hits?.entries ?? [])];
  // At once: the next key is for it.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector('input')?.focus();
  }, []);
  useEffect(() => {
    document.getElementById(`found-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const close = () => {
    opened.value = null;
  };
  /** @param {Entry | undefined} entry */
  const run = (entry) => {
    close();
    entry?.run();
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) setAt(Math.max(0, Math.min(entries.length - 1, at + by)));
    else if (event.key === 'Enter' && entries.length > 0) run(entries[at]);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  return html`
    <dialog ref=${dialog} class="palette" aria-label="Palette" onClose=${close}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant=${entries.length > 0 ? `found-${at}` : undefined}
        aria-label="Search: > verbs, # tasks, @ workers, or words of any text"
        placeholder="> verbs   # tasks   @ workers   or words of any text"
        value=${text}
        onKeyDown=${press}
        onInput=${(/** @type {Event} */ event) => {
          setText(/** @type {HTMLInputElement} */ (event.target).value);
          setAt(0);
        }}
      />
      <ul id="found" role="listbox" aria-label="Found">
        ${entries.map(
          (entry, n) => html`<li key=${n} id=${`found-${n}`} role="option" aria-selected=${n === at} onClick=${() => run(entry)}><span class="sign">${entry.sign}</span><span class="title">${entry.shown ?? entry.text}</span>${entry.key !== '' && html`<kbd>${entry.key}</kbd>`}</li>`,
        )}
        ${(entries.length === 0 || hits === null || hits.fault !== '') && html`<li role="option" aria-selected="false" aria-disabled="true" class="dim">${hits === null ? 'Looking through the texts…' : hits.fault || 'Nothing is called that or says it.'}</li>`}
      </ul>
    </dialog>
  `;
}
