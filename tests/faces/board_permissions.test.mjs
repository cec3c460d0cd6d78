// What an agent wants to do, in the Inbox: it is read to its end, and then allowed or denied by a key.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { aloud, decidable } from './board.mjs';
import { drawn, enter, open, SIZES, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });

const asks = (world, worker, command) => {
  const sent = { session_id: worker, cwd: world.repository, tool_name: 'Bash', tool_input: { command } };
  const answer = world.hook(worker, 'permission-request', sent);
  // A test that fails before it looks says why itself.
  answer.catch(() => {});
  return answer;
};
const waiting = async (world) => (await world.get('/v1/permissions')).json.requests;
const behavior = async (hook) => JSON.parse(await hook).hookSpecificOutput.decision;

/** A world in which these workers want to run these commands, and its Inbox. */
async function inbox(t, size, ...wanted) {
  const world = await World.make(t);
  await world.flagpost('worker', 'add', 'W1');
  await world.flagpost('worker', 'add', 'W2');
  await world.up();
  const hooks = [];
  for (const [worker, command] of wanted) {
    hooks.push(asks(world, worker, command));
    await until('it waits', async () => (await waiting(world)).length === hooks.length);
  }
  const context = await visit(t, browser, { size });
  const page = await enter(context, world, '/#screen=inbox');
  return { world, page, hooks };
}

test('y allows what is shown, for all who ask the same, and the clients go on', async (t) => {
  const { page, hooks } = await inbox(t, SIZES.wide, ['W1', 'npm install'], ['W2', 'npm install']);
  await page.getByRole('heading', { name: 'W1, W2: Bash: npm install' }).waitFor();
  await decidable(page, 'Allow');
  await page.keyboard.press('y');
  for (const hook of hooks) assert.equal((await behavior(hook)).behavior, 'allow');
  await page.getByRole('heading', { name: 'Nothing needs you' }).first().waitFor();
  assert.deepEqual(page.faults, []);
});

test('n denies it, and the agent is told why', async (t) => {
  const { page, hooks } = await inbox(t, SIZES.narrow, ['W1', 'rm -rf target']);
  await page.locator('.waiting li button').first().click();
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByLabel('Why').fill('Run cargo clean');
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  const told = await behavior(hooks[0]);
  assert.deepEqual(told, { behavior: 'deny', message: 'The operator denied this: Run cargo clean' });
  assert.deepEqual(page.faults, []);
});

test('what is not read to its end is not allowed', async (t) => {
  const lines = Array.from({ length: 300 }, (_, n) => `echo ${n}`).join('\n');
  const { world, page, hooks } = await inbox(t, SIZES.wide, ['W1', lines]);
  await page.getByText('read to its end first').waitFor();
  await drawn(page);
  await page.keyboard.press('y');
  await aloud(page, 'Not allowed: read to its end first.').waitFor();
  assert.equal((await waiting(world)).length, 1);
  await page.getByText('── end ──').scrollIntoViewIfNeeded();
  await decidable(page, 'Allow');
  await page.keyboard.press('y');
  assert.equal((await behavior(hooks[0])).behavior, 'allow');
  assert.deepEqual(page.faults, []);
});

test('a shows the rule, adds it, and nobody is asked the next time', async (t) => {
  const { world, page, hooks } = await inbox(t, SIZES.wide, ['W1', 'npm test']);
  await decidable(page, 'Always');
  await page.keyboard.press('a');
  await page.getByText('[[allow]] input = "npm test"').waitFor();
  assert.equal((await waiting(world)).length, 1);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  assert.equal((await behavior(hooks[0])).behavior, 'allow');
  assert.equal((await behavior(asks(world, 'W2', 'npm test'))).behavior, 'allow');
  await page.getByRole('heading', { name: 'Nothing needs you' }).first().waitFor();
  assert.deepEqual(page.faults, []);
});
