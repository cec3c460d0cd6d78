// The runs: the sessions of the repositories, and how far one is or got: its waves, its timeline, its tasks, and what it wrote.
// @ts-check

import { html, useEffect } from './preact.js';
import { post } from './api.js';
import { ask } from './ask.js';
import { useAsked, useAskedOfAll } from './asked.js';
import { useKeys } from './keys.js';
import { Log } from './log.js';
import { Prose } from './marked.js';
import { fail, toast } from './notices.js';
import { go, route, to, toLog, toRun, toTask, withParts } from './route.js';
import { canAct, repositories, runMoved } from './state.js';
import { rowsOf, Timeline, Waves } from './timeline.js';
import { count, moment, OUTCOMES, plain, span } from './words.js';

/** @typedef {{ id: string, subject: string, phase?: string, outcome?: string, attempt?: number | null, attempts?: number | null, seconds?: number | null, tokens?: number | null, how?: string }} Part */
/** @typedef {{ id: string, stage: string, thread: string | null, list: string | null, started: string | null, status: string | null, wave: { n: number, of: number } | null, active: Part[], ended: Part[], left: Part[], unbegun: Part[], parked?: { agent: string, until: string, why: string }[], tokens?: number | null, cost_usd?: number | null }} Session */

/** @type {Record<string, string>} */
const STAGE = { live: '◐ running', dead: '▲ its runner is gone', interrupted: '⊘ interrupted', archived: '✓ ended' };
export function Run() {
  const { session, repo, query, list } = route.value;
  const log = query.get('log');
  if (log !== null && list !== null) return html`<${Log} key=${`${session} ${list} ${log}`} list=${list} task=${log} session=${session} />`;
  if (session !== null && repo === null) return html`<${Somewhere} key=${session} id=${session} />`;
  return session === null ? html`<${Sessions} />` : html`<${One} key=${session} id=${session} repo=${repo ?? ''} />`;
}

/** A session of which the address does not say where it was. @param {{ id: string }} of */
function Somewhere({ id }) {
  const all = useAskedOfAll('/v1/sessions', runMoved.value);
  const of = all?.find(({ answer }) => answer.sessions.some((/** @type {Session} */ it) => it.id === id))?.repo.id;
  useEffect(() => {
    if (of !== undefined) go(withParts({ repo: of }), true);
  }, [of]);
  return html`<main id="main" tabindex="-1" class="page" aria-busy=${all === null || of !== undefined}><p class="back shown"><a href=${to('run')}>‹ Runs</a></p><h1>${plain(id)}</h1>${all !== null && of === undefined && html`<p class="warn">No repository has a run of this name.</p>`}</main>`;
}

function Sessions() {
  return html`
    <main id="main" tabindex="-1" class="page wide">
      <h1>Runs</h1>
      ${repositories.value.map(({ id, name }) => html`<${OfRepository} key=${id} id=${id} name=${name} />`)}
    </main>
  `;
}

/** @param {{ id: string, name: string }} of */
function OfRepository({ id, name }) {
  const { answer, fault } = useAsked(`/v1/sessions?repo=${id}`);
  /** @type {Session[]} */
  const sessions = [...(answer?.sessions ?? [])].reverse();
  return html`
    <section aria-label=${`Runs of ${name}`}>
      ${repositories.value.length > 1 && html`<h2>${name}</h2>`}
      ${fault !== '' && html`<p class="warn">${fault}</p>`}
      ${answer !== null && sessions.length === 0 && html`<p>No run yet: <code>flagpost run</code></p>`}
      <ul class="runs">
        ${sessions.map((it) => html`
          <li key=${it.id}><a href=${toRun(id, it.id)}>${it.id}</a> <b>${STAGE[it.stage] ?? it.stage}</b>
            <span class="dim">${moment(it.started)} · ${it.ended.length} ended · ${it.active.length} at work · ${it.unbegun.length} not begun</span></li>
        `)}
      </ul>
    </section>
  `;
}

/** @param {string} repo @param {Session} session */
async function stop(repo, session) {
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  const given = await ask({
    title: 'Stop the run?',
    text: 'Tasks that are at work may end first, unless they are stopped too.',
    fields: [{ name: 'now', label: 'Agents at work', kind: 'choice', choices: ['let them end', 'stop them now'] }],
    confirm: 'Stop the run',
  });
  if (given === null) return;
  const body = { ...(session.list === null ? {} : { list: session.list }), now: given.now === 'stop them now' };
  await post('/v1/stop', body, { repo }).then(() => toast('The run was asked to stop.')).catch(fail);
}

/** What the documents of a session are called. @type {Record<string, string>} */
const NAMES = { execution_context: 'Context', task_log: 'Log', execution_plan: 'Plan', session_summary: 'Summary', progress: 'Progress' };
const RESULTS = 'Results';
/** The reports of the tasks are one document. @param {string} name */
const tabOf = (name) => (name.startsWith('result-') ? RESULTS : NAMES[name] ?? name);
const isOpen = (/** @type {string | null} */ tab, /** @type {string} */ name) => (tab === name ? 'page' : undefined);

/** @param {{ id: string, repo: string }} of */
function One({ id, repo }) {
  const path = `/v1/sessions/${encodeURIComponent(id)}`;
  const { answer, fault } = useAsked(`${path}?repo=${repo}`);
  // What another program runs tells no times.
  const { answer: times } = useAsked(answer?.thread == null ? '' : `${path}/timeline?repo=${repo}`);
  const tab = route.value.query.get('document');
  const { answer: written, fault: notRead } = useAsked(`${path}/documents?repo=${repo}`, tab !== null);
  /** @type {Session | null} */
  const session = answer;
  useKeys('Run', () => [{ key: 'S', does: 'stop the run', run: () => session !== null && void stop(repo, session) }], [session]);
  if (session === null) return html`<main id="main" tabindex="-1" class="page" aria-busy=${fault === ''}><p class="back shown"><a href=${to('run')}>‹ Runs</a></p><h1>${id}</h1>${fault !== '' && html`<p class="warn">${fault}</p>`}</main>`;
  /** @type {{ name: string, text: string, changed: string }[]} */
  const documents = written?.documents ?? [];
  const tabs = [...new Set(documents.map(({ name }) => tabOf(name)))];
  const { stage, wave, active, unbegun, parked = [], tokens, cost_usd: cost } = session;
  return html`
    <main id="main" tabindex="-1" class="page wide">
      <p class="back shown"><a href=${to('run')}>‹ Runs</a></p>
      <h1>${id}</h1>
      <p><b>${STAGE[stage] ?? stage}</b> <span class="dim">${moment(session.started)}${wave !== null && ` · wave ${wave.n} of ${wave.of}`}${tokens != null && ` · ${tokens.toLocaleString()} tokens`}${cost != null && ` · $${cost.toFixed(2)}`}</span></p>
      ${times !== null && times.waves.length > 0
        ? html`<${Waves} waves=${times.waves} tasks=${rowsOf(times, session.left)} unbegun=${unbegun.length} />`
        : html`<p class="waves" aria-label=${`${session.ended.length} ended, ${active.length} at work, ${unbegun.length} not begun`} role="img">${session.ended.map(({ outcome }) => OUTCOMES[outcome ?? '']?.sign ?? '?').join('')}${'◐'.repeat(active.length)}${'○'.repeat(unbegun.length)}</p>`}
      ${stage === 'live' && html`<p><button type="button" class="bad" disabled=${!canAct.value} onClick=${() => stop(repo, session)}>Stop the run… <kbd>S</kbd></button></p>`}
      ${stage === 'dead' && html`<p class="warn">Its runner is gone: <code>flagpost session recover</code></p>`}
      ${parked.map((it) => html`<p key=${it.agent} class="warn">${plain(it.agent)} is parked until ${moment(it.until)}: ${plain(it.why)}</p>`)}
      <nav class="tabs" aria-label="Parts of the run"><a href=${withParts({ document: '' })} aria-current=${isOpen(tab ?? '', '')}>Tasks</a>${tabs.map((name) => html`<a key=${name} href=${withParts({ document: name })} aria-current=${isOpen(tab, name)}>${plain(name)}</a>`)}</nav>
      ${notRead !== '' && html`<p class="warn">${notRead}</p>`}
      ${tab === null
        ? html`<${Tasks} session=${session} repo=${repo} times=${times} />`
        : html`${written !== null && !tabs.includes(tab) && html`<p>This run has no document of this name.</p>`}
            ${documents.filter(({ name }) => tabOf(name) === tab).map(({ name, text, changed }) => html`<section key=${name}>${tab === RESULTS && html`<h2>${plain(name)}</h2>`}<p class="dim">${moment(changed)}</p><${Prose} text=${text} />${text.trim() === '' && html`<p class="dim">Nothing is written in it.</p>`}</section>`)}`}
    </main>
  `;
}

/** @param {{ session: Session, repo: string, times: import('./timeline.js').Times | null }} of */
function Tasks({ session: { id, list, active, ended, left, unbegun }, repo, times }) {
  const link = (/** @type {{ id: string, subject: string }} */ { id: task, subject }) => (list === null ? `#${task} ${plain(subject)}` : html`<a href=${toTask(list, task)}>#${task} ${plain(subject)}</a>`);
  /** @param {string} task @param {number | null | undefined} attempt @param {string} [name] */
  const log = (task, attempt, name = `log of #${task}`) => list !== null && html` <a class="to-log" href=${toLog(list, task, { id, repo }, attempt ?? undefined)} aria-label=${name}>log</a>`;
  return html`
    ${times !== null && times.tasks.length > 0 && html`<${Timeline} times=${times} tasks=${rowsOf(times, left)} taskLink=${link} logLink=${log} />`}
    <${Parts} title="At work" of=${active} say=${(/** @type {Part} */ it) => html`◐ ${link(it)} <span class="dim">${plain(it.phase ?? '')}</span>${log(it.id, null)}`} />
    <${Parts} title="Broken off or waiting" of=${left} say=${(/** @type {Part} */ it) => html`▲ ${link(it)} <span class="dim">${(it.how ?? '').replaceAll('_', ' ')}</span>${log(it.id, it.attempt)}`} />
    <${Parts} title="Ended" of=${ended} say=${(/** @type {Part} */ it) => html`${OUTCOMES[it.outcome ?? '']?.sign ?? '?'} ${link(it)} <b>${OUTCOMES[it.outcome ?? '']?.word ?? it.outcome}</b> <span class="dim">${it.attempt}/${it.attempts}${it.seconds != null && ` · ${span(it.seconds * 1000)}`}${it.tokens != null && ` · ${it.tokens.toLocaleString()} tokens`}</span>${log(it.id, it.attempt)}`} />
    <${Parts} title="Not begun" of=${unbegun} say=${(/** @type {Part} */ it) => html`○ ${link(it)}`} />
  `;
}

/** @param {{ title: string, of: Part[], say: (part: Part) => unknown }} of */
function Parts({ title, of, say }) {
  return of.length > 0 && html`<section><h2>${title} <span class="dim">${count(of.length, 'task')}</span></h2><ul class="links">${of.map((it, n) => html`<li key=${n}>${say(it)}</li>`)}</ul></section>`;
}
