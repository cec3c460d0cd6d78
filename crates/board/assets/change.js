// What a task changes: its files, each with its patch once it is opened, the remarks on their lines, and the decision.
//
// Work that is to land stays as it was loaded, so that what is decided on is what was seen; that there is a newer
// commit is said.
// @ts-check

import { html, useEffect, useRef, useState } from './preact.js';
import { get, Refusal } from './api.js';
import { focusBy, useKeys } from './keys.js';
import { say } from './notices.js';
import { keepRemarks, Patch, remark, remarksOn } from './patch.js';
import { Actions, decide, decided, keysOf } from './review.js';
import { part, route, to, toTask } from './route.js';
import { lastOfTask, repositoryOf, taskOf } from './state.js';
import { nameOf } from './verbs.js';
import { count, plain, STATES } from './words.js';

/** @typedef {{ path: string, added: number | null, removed: number | null }} ChangedFile */
/** @typedef {{ stage: 'underway' | 'to_land' | 'conflicts' | 'landed', branch: string | null, onto: string, before: string, after: string | null, commit: string | null, approved: Approval | null, actions: BranchAction[], conflicts: string[], files: ChangedFile[], unknown: string[] }} Told */

/** What the keys go through. */
const FILE = '.files summary';
const LINE = `${FILE}, .patch button`;

/** @param {{ file: ChangedFile, isOnly: boolean, of: string, place: string, repo: string | undefined }} of */
function File({ file: { path, added, removed }, isOnly, of, place, repo }) {
  const [isOpen, setOpen] = useState(isOnly);
  return html`
    <li><details open=${isOpen} onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary><code>${plain(path)}</code> ${added === null ? html`<span class="dim">no text</span>` : html`<span class="good">+${added}</span> <span class="bad">−${removed}</span>`}</summary>
      ${isOpen && html`<${Patch} of=${of} place=${place} repo=${repo} path=${path} />`}
    </details></li>
  `;
}

/** @param {{ of: string }} of */
function Remarks({ of }) {
  const all = remarksOn(of);
  if (all.length === 0) return null;
  return html`
    <section><h2>Remarks</h2>
      <ul class="plain">${all.map((it) => html`
        <li key=${`${it.path}:${it.n}`}><code>${plain(it.path)}:${it.n}</code> ${plain(it.words)}
          <span class="verbs"><button type="button" onClick=${() => remark(of, it.path, it.n)}>Edit…</button><button type="button" onClick=${() => keepRemarks(of, all.filter((other) => other !== it))}>Remove</button></span></li>
      `)}</ul></section>
  `;
}

/** What was told last, and what was said against it. @param {string} place @param {string | undefined} repo @param {string} list @param {string} task */
function useChange(place, repo, list, task) {
  const [told, setTold] = useState({ shown: /** @type {Told | null} */ (null), fault: /** @type {Refusal | null} */ (null), isOld: false });
  const [moved, setMoved] = useState(0);
  /** What this page had decided when it was loaded. */
  const upTo = useRef(-1);
  useEffect(() => lastOfTask.subscribe((it) => it?.list === list && it.task === task && setMoved((n) => n + 1)), [list, task]);
  useEffect(() => {
    const gone = new AbortController();
    const now = decided.peek();
    get(place, { repo }, gone.signal).then(
      (/** @type {Told} */ it) => {
        const isWanted = upTo.current !== now;
        upTo.current = now;
        // What waits for no decision is shown as it is.
        setTold((was) => (isWanted || it.commit === null || was.shown?.commit === it.commit ? { shown: it, fault: null, isOld: false } : { ...was, isOld: true }));
      },
      (/** @type {Refusal} */ fault) => gone.signal.aborted || setTold((was) => ({ ...was, fault })),
    );
    return () => gone.abort();
  }, [place, repo, moved, decided.value]);
  return told;
}

/** So many of the files that are only named are named. */
const NAMED = 20;
/** @param {string} title @param {string[]} paths */
const named = (title, paths) => paths.length > 0 && html`<p class="warn">${title} ${plain(paths.slice(0, NAMED).join(', '))}${paths.length > NAMED && ` and ${paths.length - NAMED} more`}</p>`;

/** @param {{ list: string, id: string }} of */
function Change({ list, id }) {
  const place = `/v1/tasks/${part(list)}/${part(id)}/diff`;
  const repo = repositoryOf(list)?.id;
  const { shown, fault, isOld } = useChange(place, repo, list, id);
  const of = nameOf(list, id);
  const task = taskOf(list, id);
  const work = { onto: '', commit: null, actions: [], ...shown, list, task: id };
  const run = async (/** @type {BranchAction} */ action) => {
    const lines = remarksOn(of).map(({ path, n, words }) => `${path}:${n} ${words}`);
    if ((await decide(action, { ...work, lines })) && action === 'return') keepRemarks(of, []);
  };
  const comment = () => {
    const line = document.activeElement?.closest('[data-n]');
    if (line instanceof HTMLElement) line.click();
    else say('Choose a line first, with j and k.');
  };
  useKeys('This change', () => [
    { key: 'j', does: 'next line or file', run: () => focusBy(LINE, 1) },
    { key: 'k', does: 'line or file before', run: () => focusBy(LINE, -1) },
    { key: ']', does: 'next file', run: () => focusBy(FILE, 1, '.files > li') },
    { key: '[', does: 'file before', run: () => focusBy(FILE, -1, '.files > li') },
    { key: 'c', does: 'remark on the line', run: comment },
    ...keysOf(run),
  ], [of, shown]);
  /** @param {Told} of */
  const told = ({ stage, onto, branch, commit, approved, files, conflicts, unknown, before, after, actions }) => {
    const sum = (/** @type {'added' | 'removed'} */ key) => files.reduce((all, it) => all + (it[key] ?? 0), 0);
    const how = { underway: 'so far', to_land: `as it would be on ${onto}`, conflicts: 'as it is on its branch', landed: `as it landed on ${onto}` };
    return html`
      <p>${task !== undefined && html`<span class=${`badge ${task.state}`}><span aria-hidden="true">${STATES[task.state].sign}</span> ${STATES[task.state].word}</span> `}${count(files.length, 'file')} <span class="good">+${sum('added')}</span> <span class="bad">−${sum('removed')}</span>, ${plain(how[stage])}${approved !== null && html`, <b>approved by ${plain(approved.by)}</b>`}</p>
      ${branch !== null && html`<p class="dim"><code>${plain(branch)}</code>${commit !== null && html` at <code>${commit.slice(0, 10)}</code>`}</p>`}
      ${isOld && html`<p class="warn">The work has changed since this was loaded. <button type="button" onClick=${() => (decided.value += 1)}>Show what is new</button></p>`}
      ${named(`It conflicts with ${plain(onto)} in`, conflicts)}
      ${named('New files that git does not know are not shown:', unknown)}
      <ul class="files">${files.map((file) => html`<${File} key=${`${before} ${after} ${file.path}`} file=${file} isOnly=${files.length === 1} of=${of} place=${place} repo=${repo} />`)}</ul>
      <${Remarks} of=${of} />
      ${actions.length > 0 && html`<p class="decide"><${Actions} of=${work} run=${run} hasKeys=${true} /></p>`}
    `;
  };
  return html`
    <main id="main" tabindex="-1" class="page wide change" aria-busy=${shown === null && fault === null}>
      <p><a href=${to('landing')}>‹ Landing</a></p>
      <h1><a href=${toTask(list, id)}>#${id}</a> ${plain(task?.subject ?? '')}</h1>
      ${fault !== null && html`<p class="warn">${plain(fault.message)}${fault.hint !== null && html`<br /><span class="dim">${plain(fault.hint)}</span>`}</p>`}
      ${shown !== null && told(shown)}
    </main>
  `;
}

/** What the address asks for. */
export function ChangePage() {
  const { list, task } = route.value;
  return list !== null && task !== null && html`<${Change} key=${nameOf(list, task)} list=${list} id=${task} />`;
}
