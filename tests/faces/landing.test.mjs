// Landing in the browser: what is to land, what is checked, and what was refused, beside a real landing.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { SCHEMES, SIZES, open, signIn, visit } from './browser.mjs';
import { World } from './world.mjs';

/** Each task writes a file of its own; 2 and 3 both write one, so that one of them conflicts. */
const AGENT = `
echo "work of $FLAGPOST_TASK" > "part-$FLAGPOST_TASK"
case $FLAGPOST_TASK in 2|3) echo "$FLAGPOST_TASK" > shared ;; esac
git add . && git commit --quiet --message Work
`;

const browser = await open({ after });
const world = await World.make({ after });
const agent = join(world.user, 'agent.sh');
writeFileSync(agent, AGENT);
for (const [name, value] of [['user.name', 'Ann'], ['user.email', 'ann@localhost']]) await world.git('config', name, value);
await world.git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
for (const subject of ['Write the lexer', 'Write the parser', 'Write <b>the</b> printer', 'Write the guide']) await world.flagpost('add', subject);
await world.flagpost('task', 'dep', 'add', '4', '3');
// It passes first, and lands first.
await world.flagpost('edit', '2', '--priority', 'high');
await world.up();
const { http } = world.daemon;

async function show(t, how = {}) {
  const page = await signIn(await visit(t, browser, how), world);
  await page.goto(`${http}/#screen=landing&list=web`);
  await page.getByRole('heading', { name: 'Landing', exact: true }).waitFor();
  await page.getByText('● live').waitFor();
  return page;
}

const row = (page, id) => page.locator(`main tbody tr:has(td:first-child a:text-is("#${id}"))`);

test('what is to land is shown, is checked and lands, and what is refused says why', async (t) => {
  const page = await show(t);
  await page.getByText('No branch of a passed task waits.').waitFor();

  await world.flagpost('run', '--worktrees', '--max-parallel', '1', '--agent', `sh ${agent}`);
  await row(page, 1).getByText('queued').waitFor();
  await page.getByText('In a terminal: flagpost land').waitFor();

  // The check waits for the test.
  const go = join(world.user, 'go');
  const landed = world.start('land', '--yes', '--check', `until test -e ${go}; do sleep 0.1; done`);
  await page.getByRole('status').filter({ hasText: 'checking' }).waitFor();
  writeFileSync(go, '');
  await landed;
  await page.locator('.landed li').filter({ hasText: '#1' }).waitFor();
  await row(page, 3).getByText('refused').waitFor();
  await row(page, 4).getByText('waits for').waitFor();
  await row(page, 3).getByText('Why it did not land').click();
  await row(page, 3).getByText('met conflicts in shared').waitFor();
  // Text of a task is text.
  await row(page, 3).getByText('Write <b>the</b> printer').waitFor();
  assert.deepEqual(page.faults, []);

  await row(page, 3).getByRole('link', { name: '#3' }).first().click();
  await page.getByText('It did not land on').waitFor();
});

test('every size and theme can be read, and the keys lead there', async (t) => {
  for (const size of Object.values(SIZES)) {
    for (const scheme of SCHEMES) {
      const page = await show(t, { size, scheme });
      await row(page, 3).waitFor();
      assert.deepEqual(await faults(page), []);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `the page is ${over} too wide`);
    }
  }
  const page = await signIn(await visit(t, browser), world);
  await page.goto(`${http}/lists/web`);
  await page.getByText('● live').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Landing', exact: true }).waitFor();
});
