// What a person decides about work that is to land: approve it, return it with words, land it.
//
// Which of these is possible the daemon says of each branch. An approval is of the commit that was shown.
// @ts-check

import { html, signal } from './preact.js';
import { post } from './api.js';
import { ask } from './ask.js';
import { fail, toast } from './notices.js';
import { part } from './route.js';
import { canAct, repositoryOf } from './state.js';
import { count } from './words.js';

/** Work as it is shown, with the remarks on its lines. @typedef {{ list: string, task: string, onto: string, commit: string | null, actions: BranchAction[], lines?: string[] }} Work */

/** Counts what this page decided or tried to, and its wishes to see what is new: who shows branches asks again. */
export const decided = signal(0);

/** Whether it was done. @param {string} path @param {object} body @param {{ list: string, task?: string }} of @param {string} done */
async function send(path, body, { list, task }, done) {
  const repo = repositoryOf(list)?.id;
  try {
    if (task === undefined) await post(path, body, { repo, list });
    else await post(`/v1/tasks/${part(list)}/${part(task)}/${path}`, body, { repo });
    toast(done);
    return true;
  } catch (fault) {
    fail(fault);
    return false;
  } finally {
    decided.value += 1;
  }
}

/** Lands these tasks; without them, all that can land. @param {string} list @param {string} onto @param {string} what @param {string[]} [tasks] */
export async function land(list, onto, what, tasks) {
  const text = `The work is merged in a tree of its own, and checked where land.check is set. ${onto} moves only to a commit that passed.`;
  const sure = await ask({ title: `Land ${what} on ${onto}?`, text, confirm: 'Land' });
  return sure !== null && send('/v1/landing', { tasks }, { list }, 'The landing was started.');
}

/** @type {Record<BranchAction, { key: string, label: string, does: string, run: (of: Work) => Promise<boolean> }>} */
const ACTIONS = {
  approve: { key: 'y', label: 'Approve', does: 'approve it', run: (of) => send('approve', { commit: of.commit }, of, `#${of.task} is approved.`) },
  return: {
    key: 'n',
    label: 'Return…',
    does: 'return it with words',
    run: async (of) => {
      const { task, lines = [] } = of;
      const given = await ask({
        title: `Return #${task}`,
        text: lines.length === 0 ? 'It is done again with these words.' : `It is done again with these words and ${count(lines.length, 'remark')} on lines.`,
        fields: [{ name: 'text', label: 'What is to be different', kind: 'text', isNeeded: lines.length === 0 }],
        confirm: 'Return',
      });
      return given !== null && send('return', { commit: of.commit ?? undefined, text: given.text, lines }, of, `#${task} is returned.`);
    },
  },
  land: { key: 'L', label: 'Land…', does: 'land it', run: ({ list, task, onto }) => land(list, onto, `#${task}`, [task]) },
};

/** Does it where it is possible. @param {BranchAction} action @param {Work} of */
export async function decide(action, of) {
  if (!canAct.peek()) fail('Not connected: verbs are off.');
  else if (of.actions.includes(action)) return ACTIONS[action].run(of);
  else toast(`#${of.task} is not there to ${action}.`);
  return false;
}

/** A key for each. @param {(action: BranchAction) => unknown} run @returns {import('./keys.js').Key[]} */
export const keysOf = (run) => /** @type {BranchAction[]} */ (Object.keys(ACTIONS)).map((it) => ({ key: ACTIONS[it].key, does: ACTIONS[it].does, run: () => void run(it) }));

/** The buttons. @param {{ of: Work, isBusy?: boolean, run?: (action: BranchAction) => unknown, hasKeys?: boolean }} of */
export const Actions = ({ of, isBusy = false, run = (action) => decide(action, of), hasKeys = false }) =>
  of.actions.map((action) => {
    const { key, label } = ACTIONS[action];
    const name = hasKeys ? '' : html`<span class="unseen"> #${of.task}</span>`;
    const look = !hasKeys ? undefined : action === 'return' ? 'bad' : action === of.actions.find((it) => it !== 'return') ? 'main' : undefined;
    return html`<button key=${action} type="button" class=${look} disabled=${!canAct.value || (isBusy && action === 'land')} onClick=${() => run(action)}>${label}${name}${hasKeys && html` <kbd>${key}</kbd>`}</button>`;
  });
