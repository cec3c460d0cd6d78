// Landing: which branches of passed tasks are to land, what is being checked, and what was refused and why.
//
// A person decides here on each branch as it is shown. A landing that is begun here is a process of its own, which goes
// on when the page is closed; the page asks how far it is.
// @ts-check

import { effect, html, useEffect, useState } from './preact.js';
import { get, Refusal } from './api.js';
import { focusBy, useKeys } from './keys.js';
import { Marked } from './marked.js';
import { say } from './notices.js';
import { Actions, decide, decided, keysOf, land } from './review.js';
import { go, list, route, toChange, toTask } from './route.js';
import { canAct, repositoryOf, runMoved } from './state.js';
import { count, moment, plain, span } from './words.js';

/** @typedef {{ task: string, subject: string, branch: string, commit: string, approved: Approval | null, actions: BranchAction[], ahead: number, state: 'queued' | 'changed' | 'unapproved' | 'waits' | 'refused' | 'staged', waits_for: string[], refused: NotLanded | null }} Branch */
/** @typedef {{ onto: string, commit: string, doing: { step: string, tasks: string[], check: string | null, since: string } | null, failed: { why: string, at: string } | null, staged: string | null, branches: Branch[], landed: { task: string | null, commit: string | null, onto: string | null, at: string }[], no_commit: { task: string }[] }} Landing */
/** @type {Landing} */
const NOTHING = { onto: '', commit: '', doing: null, failed: null, staged: null, branches: [], landed: [], no_commit: [] };

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
      void decided.value;
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

/** Where a branch stands, in the words of 'flagpost land --status'. @param {{ list: string, branch: Branch }} of */
function Standing({ list: of, branch: { state, approved, waits_for: waitsFor, refused } }) {
  if (state === 'waits') return html`waits for<${Tasks} list=${of} ids=${waitsFor} />`;
  if (refused !== null) return html`<b>${refused.by === null ? `refused ${Math.max(1, refused.times)}×` : `returned by ${plain(refused.by)}`}</b>`;
  if (state === 'queued' && approved !== null) return `approved by ${plain(approved.by)}`;
  return { queued: 'queued', changed: 'changed since it passed', unapproved: html`<b class="waits">to review</b>`, refused: 'refused', staged: 'passed' }[state];
}

/** @param {{ list: string, onto: string, branch: Branch, isBusy: boolean }} of */
function Row({ list: of, onto, branch, isBusy }) {
  const { task, subject, commit, actions, ahead, refused } = branch;
  return html`
    <tbody data-task=${task}>
      <tr>
        <td><a href=${toTask(of, task)}>#${task}</a></td>
        <td><${Standing} list=${of} branch=${branch} /></td>
        <td>${count(ahead, 'commit')}</td>
        <td class="long">${plain(subject)}</td>
        <td class="long"><code>${plain(branch.branch)}</code></td>
        <td><span class="verbs"><a class="button" href=${toChange(of, task)}>Diff<span class="unseen"> #${task}</span></a><${Actions} of=${{ list: of, task, onto, commit, actions }} isBusy=${isBusy} /></span></td>
      </tr>
      ${refused !== null && html`<tr><td class="long" colspan="6"><${Why} title=${refused.by === null ? 'Why it did not land' : 'Why it was returned'} why=${refused.why} /></td></tr>`}
    </tbody>
  `;
}

/** The keys act on the row that has the focus, and without one `L` lands all; beside an open task they are the task's. @param {string} of @param {Landing} shown @param {() => unknown} landAll */
function useRowKeys(of, { onto, branches, doing }, landAll) {
  const isAlone = route.value.task === null;
  useKeys('Landing', () => {
    if (!isAlone) return [];
    const none = () => say('Choose a branch first, with j and k.');
    const row = (/** @type {(it: Branch) => unknown} */ does, otherwise = none) => {
      const here = document.activeElement?.closest('[data-task]')?.getAttribute('data-task');
      const it = branches.find(({ task }) => task === here);
      if (it === undefined) otherwise();
      else void does(it);
    };
    return [
      { key: 'j', does: 'next branch', run: () => focusBy('.to-land td:first-child > a', 1, '[data-task]') },
      { key: 'k', does: 'branch before', run: () => focusBy('.to-land td:first-child > a', -1, '[data-task]') },
      { key: 'v', does: 'its diff', run: () => row(({ task }) => go(toChange(of, task))) },
      ...keysOf((action) => row((it) => decide(action, { ...it, list: of, onto }), action === 'land' ? landAll : none)),
    ];
  }, [of, branches, doing, isAlone, canAct.value]);
}

export function Landing() {
  const here = list.value;
  const { shown, fault } = useLanding(repositoryOf(here)?.id, here);
  const of = here ?? '';
  const { onto, commit, doing, failed, staged, branches, landed, no_commit: without } = shown ?? NOTHING;
  const ready = branches.filter(({ state }) => state === 'queued').length;
  const isReady = ready > 0 && doing === null && canAct.value;
  const landAll = () => void (isReady && land(of, onto, count(ready, 'branch', 'branches')));
  useRowKeys(of, shown ?? NOTHING, landAll);
  return html`
    <main id="main" tabindex="-1" class="page wide" aria-busy=${shown === null && fault === null}>
      <h1>Landing</h1>
      ${fault !== null && html`<p>${plain(fault.message)}</p>${fault.hint !== null && html`<p class="dim">${plain(fault.hint)}</p>`}`}
      ${shown !== null && html`
        <p>On <b>${plain(onto)}</b>, which stands on ${short(commit)}.</p>
        ${doing !== null && html`<p><span role="status"><b>${doing.step}</b><${Tasks} list=${of} ids=${doing.tasks} />${doing.step === 'checking' && doing.check !== null && html`: <code>${plain(doing.check)}</code>`}</span> <span class="dim">for ${span(Math.max(0, Date.now() - Date.parse(doing.since)))}</span></p>`}
        ${failed !== null && html`<div class="warn"><${Why} title=${`The last landing ended early, ${moment(failed.at)}`} why=${failed.why} /></div>`}
        ${staged !== null && html`<p class="warn">A tested commit waits for a working tree with changes. Commit or stash them, then <code>flagpost land</code> takes it.</p>`}
        ${branches.length === 0 && html`<p>No passed task has a branch that waits. <code>flagpost run --worktrees</code> gives tasks branches.</p>`}
        ${ready > 1 && html`<p><button type="button" class="main" disabled=${!isReady} onClick=${landAll}>Land all… <kbd>L</kbd></button></p>`}
        ${branches.length > 0 && html`
          <table class="to-land">
            <thead><tr><th scope="col">Task</th><th scope="col">Landing</th><th scope="col">Ahead</th><th scope="col">Subject</th><th scope="col">Branch</th><th scope="col">Decide</th></tr></thead>
            ${branches.map((it) => html`<${Row} key=${it.task} list=${of} onto=${onto} branch=${it} isBusy=${doing !== null} />`)}
          </table>
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
