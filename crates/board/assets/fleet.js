// The fleet: each worker, its sign of life and its work. Workers with something for the person come first.
// @ts-check

import { html, useEffect } from './preact.js';
import { post } from './api.js';
import { ask } from './ask.js';
import { useAskedOfAll } from './asked.js';
import { useKeys } from './keys.js';
import { Machines } from './machines.js';
import { copy, fail, toast } from './notices.js';
import { repositoryOf, canAct, fleetMoved, lists, repositories } from './state.js';
import { list, route, to, toTask } from './route.js';
import { age, plain, STATES } from './words.js';

/** @param {Worker} worker */
const urgency = (worker) => (worker.to_decide + worker.withheld + worker.reports > 0 ? 0 : worker.liveness === 'silent' ? 1 : 2);
const LIFE = {
  heartbeat: { sign: '●', word: 'live' },
  process: { sign: '●', word: 'live, by its process' },
  silent: { sign: '◌', word: 'silent' },
};

async function join() {
  if (!canAct.peek()) return fail('Not connected: verbs are off.');
  const given = await ask({ title: 'Add a worker', fields: [{ name: 'id', label: 'Name', isNeeded: true }, { name: 'agent', label: 'Agent' }], confirm: 'Add' });
  if (given === null) return;
  const body = given.agent ? { id: given.id, agent: given.agent } : { id: given.id };
  const repo = repositoryOf(list.peek())?.id ?? null;
  await post('/v1/workers', body, { repo }).then(() => toast(`Added ${given.id}`)).catch(fail);
}

export function Fleet() {
  const workers = useAskedOfAll('/v1/workers', fleetMoved.value);
  useKeys('Fleet', () => [{ key: 'c', does: 'add a worker', run: () => void join() }], []);
  const isSeveral = repositories.value.length > 1;
  const named = route.value.query.get('worker') ?? '';
  useEffect(() => {
    if (named !== '' && workers !== null) document.getElementById(`worker-${named}`)?.scrollIntoView({ block: 'center' });
  }, [workers, named]);
  return html`
    <main id="main" tabindex="-1" class="page wide" aria-busy=${workers === null}>
      <h1>Fleet</h1>
      ${repositories.value.map(({ id, name }) => {
        /** @type {Worker[]} */
        const told = workers?.find(({ repo }) => repo.id === id)?.answer.workers ?? [];
        const all = [...told].sort((a, b) => urgency(a) - urgency(b) || a.id.localeCompare(b.id, 'en', { numeric: true }));
        return html`
          <section key=${id} aria-label=${`Workers of ${name}`}>
            <h2 class=${isSeveral ? '' : 'unseen'}>${name}</h2>
            ${workers !== null && all.length === 0 && html`<p>No worker yet: <code>flagpost worker add W1</code></p>`}
            <ul class="fleet">${all.map((worker) => html`<${WorkerCard} key=${worker.id} repo=${id} worker=${worker} />`)}</ul>
          </section>
        `;
      })}
      <${Machines} />
      <p><button type="button" disabled=${!canAct.value} onClick=${join}>Add a worker… <kbd>c</kbd></button></p>
    </main>
  `;
}

/** @param {{ repo: string, worker: Worker }} of */
function WorkerCard({ repo, worker }) {
  const { id, agent, liveness, last_seen, to_decide, withheld, to_read, reports, next, tmux, worktree } = worker;
  const life = LIFE[liveness];
  const held = [...lists].filter(([, it]) => it.repo === repo).flatMap(([name, { tasks }]) => [...tasks.values()].map((it) => it.value).filter((it) => it.claim?.by === id).map((task) => ({ name, task })));
  const waits = [
    [to_decide, 'to decide'], [withheld, 'withheld'], [reports, 'to read'],
  ].filter(([n]) => Number(n) > 0).map(([n, word]) => `${n} ${word}`);
  const isIdle = held.length + waits.length + to_read === 0 && next == null;
  return html`
    <li class=${isIdle ? 'worker idle' : 'worker'} id=${`worker-${id}`}>
      <h3><span class=${liveness === 'silent' ? 'dim' : 'good'} role="img" aria-label=${life.word}>${life.sign}</span> ${plain(id)} <span class="dim">${plain(agent ?? '')}</span></h3>
      <p class="dim">${isIdle && 'idle · '}${life.word} · ${last_seen ? `seen ${age(last_seen)} ago` : 'never seen'}</p>
      ${!isIdle && html`<dl class="facts">
        <div><dt>NOW</dt><dd>${held.length === 0 ? '–' : held.map(({ name, task }) => html`<a key=${task.id} href=${toTask(name, task.id)}>${STATES[task.state].sign} #${task.id} ${plain(task.subject)} <span class="dim">${age(task.claim?.at)}</span></a>`)}</dd></div>
        <div><dt>NEXT</dt><dd>${next == null ? '–' : `${next.seq} ${plain(next.summary)}`}</dd></div>
        <div><dt>QUEUED</dt><dd>${to_read ? `${to_read} to be read by it` : '–'}</dd></div>
      </dl>`}
      ${waits.length > 0 && html`<p><a class="waits" href=${to('inbox')}>${waits.join(' · ')}</a></p>`}
      ${(tmux ?? worktree) && html`<p>${[tmux, worktree].filter((it) => it !== null).map((it) => html`<button key=${it} type="button" class="quiet copy" onClick=${() => copy(it)}>⧉ ${plain(it)}</button>`)}</p>`}
    </li>
  `;
}
