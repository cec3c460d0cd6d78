// Landing: which branches of passed tasks are to land, what is being checked, and what was refused and why.
//
// It only shows: a landing runs commands and takes as long as they do, so it is started in a terminal.
// @ts-check

import { effect, html, useEffect, useState } from './preact.js';
import { get, Refusal } from './api.js';
import { Marked } from './marked.js';
import { Command } from './notices.js';
import { list, toTask } from './route.js';
import { repositoryOf, runMoved } from './state.js';
import { count, moment, plain, span } from './words.js';

/** @typedef {{ task: string, subject: string, branch: string, ahead: number, state: 'queued' | 'waits' | 'refused' | 'staged', waits_for: string[], refused: { times: number, why: string } | null }} Branch */
/** @typedef {{ onto: string, commit: string, doing: { step: string, tasks: string[], check: string | null, since: string } | null, staged: string | null, branches: Branch[], landed: { task: string | null, commit: string | null, onto: string | null, at: string }[], no_commit: { task: string }[] }} Landing */
/** @type {Landing} */
const NOTHING = { onto: '', commit: '', doing: null, staged: null, branches: [], landed: [], no_commit: [] };

/** What a landing does is in no line of the history: so often it is looked for while something may land, and while one is
    under way, in milliseconds. */
const LOOK = 5_000;
const LOOK_AGAIN = 2_000;
/** From one question to the next, however much changes: each one asks git. */
const PAUSE = 1_000;

/**
 * What is to land, for as long as it is shown, and what was said against it.
 * @param {string | undefined} repo @param {string | null} of @returns {{ shown: Landing | null, fault: Refusal | null }}
 */
function useLanding(repo, of) {
  const [told, setTold] = useState({ shown: /** @type {Landing | null} */ (null), fault: /** @type {Refusal | null} */ (null) });
  useEffect(() => {
    if (of === null || repo === undefined) return;
    const gone = new AbortController();
    let begun = -PAUSE;
    let timer = 0;
    let isAsking = false;
    /** Something changed that the question on the way may not tell of. */
    let isOld = false;
    const lookIn = (/** @type {number} */ ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), Math.max(ms, begun + PAUSE - performance.now()));
    };
    const look = async () => {
      if (document.hidden) return lookIn(LOOK_AGAIN);
      isAsking = true;
      isOld = false;
      begun = performance.now();
      let pause = 0;
      try {
        /** @type {Landing} */
        const shown = await get('/v1/landing', { repo, list: of }, gone.signal);
        setTold({ shown, fault: null });
        pause = shown.doing !== null ? LOOK_AGAIN : shown.branches.some(({ state }) => state === 'queued') ? LOOK : 0;
      } catch (error) {
        const fault = /** @type {Refusal} */ (error);
        // Where the daemon does not answer, what was shown is the last that is known.
        if (!gone.signal.aborted) setTold(({ shown }) => ({ shown: fault.status === 0 ? shown : null, fault }));
      }
      isAsking = false;
      if (gone.signal.aborted) return;
      if (isOld || pause > 0) lookIn(isOld ? 0 : pause);
    };
    const stop = effect(() => {
      void runMoved.value;
      if (isAsking) isOld = true;
      else lookIn(0);
    });
    return () => {
      stop();
      clearTimeout(timer);
      gone.abort();
      setTold({ shown: null, fault: null });
    };
  }, [repo, of]);
  return told;
}

/** @param {string} commit */
const short = (commit) => html`<code>${commit.slice(0, 10)}</code>`;

/** @param {{ list: string, ids: string[] }} of */
const Tasks = ({ list: of, ids }) => html`${ids.map((id) => html` <a key=${id} href=${toTask(of, id)}>#${id}</a>`)}`;

/** Why work did not land: its first line, and all of it on demand. @param {{ title: string, why: string }} of */
export const Why = ({ title, why }) => html`<details class="why"><summary>${title}: ${plain(why.split('\n')[0] ?? '')}</summary><pre tabindex="0"><${Marked} text=${why} /></pre></details>`;

/** A name as a shell takes it. @param {string} name */
const quoted = (name) => (/^\w[\w./-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

/** @param {{ list: string, branch: Branch }} of */
function Row({ list: of, branch: { task, subject, branch, ahead, state, waits_for: waitsFor, refused } }) {
  const where = { queued: 'queued', waits: 'waits for', refused: 'refused', staged: 'passed' }[state];
  return html`
    <tbody>
      <tr>
        <td><a href=${toTask(of, task)}>#${task}</a></td>
        <td>${state === 'refused' ? html`<b>${where}</b>` : where}${state === 'waits' && html`<${Tasks} list=${of} ids=${waitsFor} />`}</td>
        <td>${count(ahead, 'commit')}</td>
        <td class="long">${plain(subject)}</td>
        <td class="long"><code>${plain(branch)}</code></td>
      </tr>
      ${refused !== null && html`<tr><td class="long" colspan="5"><${Why} title="Why it did not land" why=${refused.why} /></td></tr>`}
    </tbody>
  `;
}

export function Landing() {
  const here = list.value;
  const { shown, fault } = useLanding(repositoryOf(here)?.id, here);
  const of = here ?? '';
  const { onto, commit, doing, staged, branches, landed, no_commit: without } = shown ?? NOTHING;
  return html`
    <main id="main" tabindex="-1" class="page wide" aria-busy=${shown === null && fault === null}>
      <h1>Landing</h1>
      ${fault !== null && html`<p>${plain(fault.message)}</p>${fault.hint !== null && html`<p class="dim">${plain(fault.hint)}</p>`}`}
      ${shown !== null && html`
        <p>On <b>${plain(onto)}</b>, which stands on ${short(commit)}.</p>
        ${doing !== null && html`<p><span role="status"><b>${doing.step}</b><${Tasks} list=${of} ids=${doing.tasks} />${doing.step === 'checking' && doing.check !== null && html`: <code>${plain(doing.check)}</code>`}</span> <span class="dim">for ${span(Math.max(0, Date.now() - Date.parse(doing.since)))}</span></p>`}
        ${staged !== null && html`<p class="warn">A tested commit waits for a working tree with changes. Commit or stash them, then <code>flagpost land</code> takes it.</p>`}
        ${branches.length === 0 && html`<p>No passed task has a branch that waits. <code>flagpost run --worktrees</code> gives tasks branches.</p>`}
        ${branches.length > 0 && html`
          <table class="to-land">
            <thead><tr><th scope="col">Task</th><th scope="col">Landing</th><th scope="col">Ahead</th><th scope="col">Subject</th><th scope="col">Branch</th></tr></thead>
            ${branches.map((it) => html`<${Row} key=${it.task} list=${of} branch=${it} />`)}
          </table>
          ${doing === null && branches.some(({ state }) => state === 'queued') && html`<p>In a terminal: <${Command} text=${`flagpost land --list ${quoted(of)}`} /></p>`}
        `}
        ${landed.length > 0 && html`
          <section><h2>Landed</h2>
          <ul class="landed">${landed.map((it, n) => html`<li key=${n}>${it.task !== null && html`<${Tasks} list=${of} ids=${[it.task]} /> `}on ${plain(it.onto ?? '')} (${short(it.commit ?? '')}) <span class="dim">${moment(it.at)}</span></li>`)}</ul></section>
        `}
        ${without.length > 0 && html`<p>Passed without a commit:<${Tasks} list=${of} ids=${without.map(({ task }) => task)} /></p>`}
      `}
    </main>
  `;
}
