// Landing: which branches of passed tasks are to land, what is being checked, and what was refused and why.
//
// It only shows: a landing runs commands and takes as long as they do, so it is started in a terminal.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get } from './api.js';
import { list, toTask } from './route.js';
import { repositoryOf, runMoved } from './state.js';
import { age, count, moment, plain } from './words.js';

/** @typedef {{ task: string, subject: string, branch: string, ahead: number, state: 'queued' | 'waits' | 'refused' | 'staged', waits_for: string[], refused: { times: number, why: string } | null }} Branch */
/** @typedef {{ onto: string, commit: string, doing: { step: string, tasks: string[], check: string | null, since: string } | null, staged: string | null, branches: Branch[], landed: { task: string | null, commit: string | null, onto: string | null, at: string }[] }} Landing */

/** What a landing does is in no line of the history: so often it is looked for while something may land, and while one is
    under way, in milliseconds. */
const LOOK = 5_000;
const LOOK_AGAIN = 2_000;
/** Many transitions are one question. */
const PAUSE = 300;

/** @param {string} commit */
const short = (commit) => html`<code>${commit.slice(0, 10)}</code>`;

/** @param {{ list: string, ids: string[] }} of */
const Tasks = ({ list: of, ids }) => html`${ids.map((id) => html` <a key=${id} href=${toTask(of, id)}>#${id}</a>`)}`;

/** @param {{ list: string, branch: Branch }} of */
function Row({ list: of, branch: { task, subject, branch, ahead, state, waits_for: waitsFor, refused } }) {
  const where = { queued: 'queued', waits: 'waits for', refused: 'refused', staged: 'passed' }[state];
  return html`
    <tr>
      <td><a href=${toTask(of, task)}>#${task}</a></td>
      <td>${state === 'refused' ? html`<b class="warn">${where}</b>` : where}${state === 'waits' && html`<${Tasks} list=${of} ids=${waitsFor} />`}</td>
      <td>${plain(subject)}${refused !== null && html`<details><summary>Why it did not land</summary><pre>${plain(refused.why)}</pre></details>`}</td>
      <td>${count(ahead, 'commit')}</td>
      <td><code>${plain(branch)}</code></td>
    </tr>
  `;
}

export function Landing() {
  const [shown, setShown] = useState(/** @type {Landing | null} */ (null));
  const [fault, setFault] = useState('');
  const [look, setLook] = useState(0);
  const here = list.value;
  const repo = repositoryOf(here)?.id;
  const moved = runMoved.value;
  useEffect(() => {
    if (here === null || repo === undefined) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      get('/v1/landing', { repo, list: here }, gone.signal).then((it) => {
        setShown(it);
        setFault('');
      }).catch((error) => {
        if (gone.signal.aborted) return;
        setShown(null);
        setFault(`${error.message} ${error.hint ?? ''}`);
      });
    }, shown === null ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [here, repo, moved, look]);
  const every = shown?.doing != null ? LOOK_AGAIN : shown?.branches.some(({ state }) => state === 'queued') ? LOOK : 0;
  useEffect(() => {
    if (every === 0) return;
    const timer = setInterval(() => document.hidden || setLook((it) => it + 1), every);
    return () => clearInterval(timer);
  }, [every]);
  const of = here ?? '';
  const { onto, commit, doing, staged, branches, landed } = shown ?? { onto: '', commit: '', doing: null, staged: null, branches: [], landed: [] };
  return html`
    <main id="main" tabindex="-1" class="page wide" aria-busy=${shown === null && fault === ''}>
      <h1>Landing</h1>
      ${fault !== '' && html`<p>${plain(fault)}</p>`}
      ${shown !== null && html`
        <p>On <b>${plain(onto)}</b>, which stands on ${short(commit)}.</p>
        ${doing !== null && html`<p role="status"><b>${doing.step}</b><${Tasks} list=${of} ids=${doing.tasks} />${doing.step === 'checking' && doing.check !== null && html`: <code>${plain(doing.check)}</code>`} <span class="dim">since ${age(doing.since)}</span></p>`}
        ${staged !== null && html`<p class="warn">A tested commit waits for a working tree with changes. Commit or stash them, then <code>flagpost land</code> takes it.</p>`}
        ${branches.length === 0 && html`<p>No branch of a passed task waits. <code>flagpost run --worktrees</code> gives tasks branches.</p>`}
        ${branches.length > 0 && html`
          <div class="wide-table"><table>
            <thead><tr><th scope="col">Task</th><th scope="col">Landing</th><th scope="col">Subject</th><th scope="col">Ahead</th><th scope="col">Branch</th></tr></thead>
            <tbody>${branches.map((it) => html`<${Row} key=${it.task} list=${of} branch=${it} />`)}</tbody>
          </table></div>
          ${doing === null && branches.some(({ state }) => state === 'queued') && html`<p>In a terminal: <code>flagpost land</code></p>`}
        `}
        ${landed.length > 0 && html`
          <h2>Landed</h2>
          <ul class="landed">${landed.map((it, n) => html`<li key=${n}>${it.task !== null && html`<${Tasks} list=${of} ids=${[it.task]} /> `}on ${plain(it.onto ?? '')} (${short(it.commit ?? '')}) <span class="dim">${moment(it.at)}</span></li>`)}</ul>
        `}
      `}
    </main>
  `;
}
