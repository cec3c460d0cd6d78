// Landing in the browser: what is to land, what is checked, and what was refused, beside a real landing.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { SCHEMES, SIZES, enter, hold, open, overhear, settled, visit } from './browser.mjs';
import { World } from './world.mjs';

/** Each task writes a file of its own; 2 and 3 both write one, so that one of them conflicts. The check refuses 5. */
const AGENT = `
echo "work of $FLAGPOST_TASK" > "part-$FLAGPOST_TASK"
case $FLAGPOST_TASK in 2|3) echo "$FLAGPOST_TASK" > shared ;; 5) touch broken ;; esac
git add . && git commit --quiet --message Work
`;

const browser = await open({ after });
const world = await World.make({ after });
const agent = join(world.user, 'agent.sh');
writeFileSync(agent, AGENT);
for (const [name, value] of [['user.name', 'Ann'], ['user.email', 'ann@localhost']]) await world.git('config', name, value);
await world.git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
for (const subject of ['Write the lexer', 'Write the parser', 'Write <b>the</b> printer', 'Write the guide', 'Break it']) await world.flagpost('add', subject);
await world.flagpost('task', 'dep', 'add', '4', '3');
// It passes first, and lands first.
await world.flagpost('edit', '2', '--priority', 'high');
await world.up();

async function show(t, how = {}) {
  const context = await visit(t, browser, how);
  await context.clock.install();
  const page = await enter(context, world, '/#screen=landing&list=web');
  await page.getByRole('heading', { name: 'Landing', exact: true }).waitFor();
  await page.getByText('● live').waitFor();
  return page;
}

const row = (page, id) => page.locator(`main tbody:has(tr:first-child td:first-child a:text-is("#${id}"))`);

test('what is to land is shown, is checked and lands, and what is refused says why', async (t) => {
  const page = await show(t);
  await page.getByText('No passed task has a branch that waits.').waitFor();

  await world.flagpost('run', '--worktrees', '--max-parallel', '1', '--agent', `sh ${agent}`);
  await row(page, 1).getByText('queued').waitFor();
  await page.getByRole('button', { name: 'Land all…' }).waitFor();

  // The check waits for the test.
  const go = join(world.user, 'go');
  const landed = world.start('land', '--yes', '--check', `until test -e ${go}; do sleep 0.1; done; test ! -e broken || { echo 'it is  <i>broken</i>'; echo twice; exit 1; }`);
  await page.getByRole('status').filter({ hasText: 'checking' }).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Land all…' }).isDisabled(), 'one landing at a time');
  writeFileSync(go, '');
  await landed;
  await page.locator('.landed li').filter({ hasText: '#1' }).waitFor();
  await row(page, 3).getByText('refused').waitFor();
  await row(page, 4).getByText('waits for').waitFor();
  await row(page, 3).getByText('Why it did not land').click();
  await row(page, 3).locator('pre').getByText('met conflicts in shared').waitFor();
  // What a check prints stays in lines, and its first line is seen without a click.
  await row(page, 5).getByText(/Why it did not land: The check .* failed with exit code 1/).click();
  assert.match(await row(page, 5).locator('pre').innerText(), /\nit is {2}<i>broken<\/i>\ntwice/);
  // Text of a task is text.
  await row(page, 3).getByText('Write <b>the</b> printer').waitFor();
  assert.deepEqual(page.faults, []);

  await row(page, 3).getByRole('link', { name: '#3' }).first().click();
  await page.getByText('It did not land on').waitFor();
  await page.goto(`${world.daemon.http}/lists/web/tasks/5`);
  await page.getByText(/It did not land on .*: The check .* failed/).click();
  assert.match(await page.locator('.task pre').innerText(), /\nit is {2}<i>broken<\/i>\ntwice/);
});

test('many changes are a question a second, and it is asked all the same', async (t) => {
  const page = await show(t);
  await row(page, 3).waitFor();
  const hears = await overhear(page);
  await hold(page);
  const asked = [];
  page.on('request', (request) => request.url().includes('/v1/landing') && asked.push(request));
  for (let second = 1; second <= 3; second += 1) {
    for (let n = 0; n < 5; n += 1) await world.post('/v1/tasks/web/4/edit', { subject: `Write the guide, change ${second}.${n}` });
    await hears('task.updated', `change ${second}.4`);
    await settled(page);
    assert.equal(asked.length, second - 1, 'the clock stands');
    await page.clock.runFor(1000);
    await row(page, 4).getByText(`change ${second}.4`).waitFor();
    await settled(page);
    assert.equal(asked.length, second);
  }
});

test('where nothing can land the page says why and what to do, and goes on when that changes', async (t) => {
  await world.git('checkout', '--quiet', '--detach');
  const page = await show(t);
  await page.getByText('the repository stands on no branch').waitFor();
  await page.getByText('name the branch: --onto').waitFor();
  assert.deepEqual(await faults(page), []);
  await world.git('checkout', '--quiet', '-');
  await world.post('/v1/tasks/web/4/edit', { subject: 'Write the guide' });
  await row(page, 3).waitFor();
  await page.getByText('stands on no branch').waitFor({ state: 'detached' });
});

test('every size and theme can be read, and the keys lead there', async (t) => {
  for (const size of Object.values(SIZES)) {
    for (const scheme of SCHEMES) {
      const page = await show(t, { size, scheme });
      await row(page, 3).waitFor();
      assert.deepEqual(await faults(page), []);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `the page is ${over} too wide`);
      await row(page, 5).getByText('Why it did not land').click();
      const right = await row(page, 5).locator('td, pre').evaluateAll((all) => Math.max(...all.map((it) => it.getBoundingClientRect().right)));
      assert.ok(right <= size.width, `a row ends at ${right}`);
      const left = await row(page, 5).locator('td').evaluateAll((all) => Math.min(...all.map((it) => it.getBoundingClientRect().left)));
      assert.ok(left >= 0, `a row begins at ${left}`);
      assert.deepEqual(await faults(page), []);
    }
  }
  const page = await enter(await visit(t, browser), world, '/lists/web');
  await page.getByText('● live').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Landing', exact: true }).waitFor();
});
