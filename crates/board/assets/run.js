// The runs: the sessions of the repositories, and how far one is or got.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get, post } from './api.js';
import { ask } from './ask.js';
import { useKeys } from './keys.js';
import { fail, toast } from './notices.js';
import { route, toTask } from './route.js';
import { canAct, repositories, runMoved } from './state.js';
import { count, moment, plain, span } from './words.js';

/** @typedef {{ id: string, subject: string, phase?: string, outcome?: string, attempt?: number | null, attempts?: number | null, seconds?: number | null, tokens?: number | null, how?: string }} Part */
/** @typedef {{ id: string, stage: string, list: string | null, started: string | null, status: string | null, wave: { n: number, of: number } | null, active: Part[], ended: Part[], left: Part[], unbegun: Part[], parked?: { agent: string, until: string, why: string }[], tokens?: number | null, cost_usd?: number | null }} Session */

/** @type {Record<string, string>} */
const STAGE = { live: '◐ running', dead: '▲ its runner is gone', interrupted: '⊘ interrupted', archived: '✓ ended' };
/** @type {Record<string, string>} */
const OUTCOME = { PASS: '✓', PARTIAL: '▲', FAIL: '✗' };

/** @param {string} path @param {unknown[]} of @returns {any} */
function useAsked(path, of) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const moved = runMoved.value;
  useEffect(() => {
    if (path === '') return;
    const timer = setTimeout(() => get(path).then(setAnswer).catch(fail), answer === null ? 0 : 300);
    return () => clearTimeout(timer);
  }, [path, moved, ...of]);
  return answer;
}

export function Run() {
  const { session, repo } = route.value;
  const of = repo ?? repositories.value[0]?.id ?? '';
  return session === null ? html`<${Sessions} />` : html`<${One} key=${session} id=${session} repo=${of} />`;
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
  const answer = useAsked(`/v1/sessions?repo=${id}`, []);
  /** @type {Session[]} */
  const sessions = [...(answer?.sessions ?? [])].reverse();
  return html`
    <section aria-label=${`Runs of ${name}`}>
      ${repositories.value.length > 1 && html`<h2>${name}</h2>`}
      ${answer !== null && sessions.length === 0 && html`<p>No run yet: <code>flagpost run</code></p>`}
      <ul class="runs">
        ${sessions.map((it) => html`
          <li key=${it.id}><a href=${`/runs/${encodeURIComponent(it.id)}#repo=${id}`}>${it.id}</a> <b>${STAGE[it.stage] ?? it.stage}</b>
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

/** @param {{ id: string, repo: string }} of */
function One({ id, repo }) {
  /** @type {Session | null} */
  const session = useAsked(`/v1/sessions/${encodeURIComponent(id)}?repo=${repo}`, []);
  useKeys('Run', () => [{ key: 'S', does: 'stop the run', run: () => session !== null && void stop(repo, session) }], [session]);
  if (session === null) return html`<main id="main" tabindex="-1" class="page" aria-busy="true"><h1>${id}</h1></main>`;
  const { stage, wave, active, ended, left, unbegun, parked = [], tokens, cost_usd: cost } = session;
  const link = (/** @type {Part} */ { id: task, subject }) => (session.list === null ? `#${task} ${plain(subject)}` : html`<a href=${toTask(session.list, task)}>#${task} ${plain(subject)}</a>`);
  const all = `${ended.map(({ outcome }) => OUTCOME[outcome ?? ''] ?? '?').join('')}${'◐'.repeat(active.length)}${'○'.repeat(unbegun.length)}`;
  return html`
    <main id="main" tabindex="-1" class="page wide">
      <p class="back shown"><a href="/#screen=run">‹ Runs</a></p>
      <h1>${id}</h1>
      <p><b>${STAGE[stage] ?? stage}</b> <span class="dim">${moment(session.started)}${wave !== null && ` · wave ${wave.n} of ${wave.of}`}${tokens != null && ` · ${tokens.toLocaleString()} tokens`}${cost != null && ` · $${cost.toFixed(2)}`}</span></p>
      <p class="waves" aria-label=${`${ended.length} ended, ${active.length} at work, ${unbegun.length} not begun`} role="img">${all}</p>
      ${stage === 'live' && html`<p><button type="button" class="bad" disabled=${!canAct.value} onClick=${() => stop(repo, session)}>Stop the run… <kbd>S</kbd></button></p>`}
      ${stage === 'dead' && html`<p class="warn">Its runner is gone: <code>flagpost session recover</code></p>`}
      ${parked.map((it) => html`<p key=${it.agent} class="warn">${plain(it.agent)} is parked until ${moment(it.until)}: ${plain(it.why)}</p>`)}
      <${Parts} title="At work" of=${active} say=${(/** @type {Part} */ it) => html`◐ ${link(it)} <span class="dim">${plain(it.phase ?? '')}</span>`} />
      <${Parts} title="Broken off or waiting" of=${left} say=${(/** @type {Part} */ it) => html`▲ ${link(it)} <span class="dim">${(it.how ?? '').replaceAll('_', ' ')}</span>`} />
      <${Parts} title="Ended" of=${ended} say=${(/** @type {Part} */ it) => html`${OUTCOME[it.outcome ?? ''] ?? '?'} ${link(it)} <b>${it.outcome}</b> <span class="dim">${it.attempt}/${it.attempts}${it.seconds != null && ` · ${it.seconds < 60 ? `${it.seconds} s` : span(it.seconds * 1000)}`}${it.tokens != null && ` · ${it.tokens.toLocaleString()} tokens`}</span>`} />
      <${Parts} title="Not begun" of=${unbegun} say=${(/** @type {Part} */ it) => html`○ ${link(it)}`} />
    </main>
  `;
}

/** @param {{ title: string, of: Part[], say: (part: Part) => unknown }} of */
function Parts({ title, of, say }) {
  return of.length > 0 && html`<section><h2>${title} <span class="dim">${count(of.length, 'task')}</span></h2><ul class="links">${of.map((it, n) => html`<li key=${n}>${say(it)}</li>`)}</ul></section>`;
}
