// Review in the browser: work is looked at, returned with words and a remark on a line, approved and landed, all on the
// board, and the commands say so.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { drawn, enter, open, SCHEMES, SIZES, visit } from './browser.mjs';
import { foundStrangers, TEXTS } from './hostile.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

/** Each task brings two files of its own, one with whatever an agent may write; the first removes a file, too. */
const AGENT = `
[ $FLAGPOST_TASK != 1 ] || git rm --quiet old
mkdir -p src
printf 'first of %s\\nsecond of %s\\n' $FLAGPOST_TASK $FLAGPOST_TASK > src/part-$FLAGPOST_TASK
cat "$HOME/hostile" >> src/part-$FLAGPOST_TASK
echo notes > notes-$FLAGPOST_TASK
git add . && git commit --quiet --message "Work of $FLAGPOST_TASK"
`;

const browser = await open({ after });

/** So many passed tasks, whose work waits for a review. */
async function passed(t, ...subjects) {
  const world = await World.make(t);
  const agent = join(world.user, 'agent.sh');
  writeFileSync(agent, AGENT);
  writeFileSync(join(world.user, 'hostile'), `${TEXTS.join('\n')}\n`);
  for (const [name, value] of [['user.name', 'Ann'], ['user.email', 'ann@localhost']]) await world.git('config', name, value);
  world.write(join(world.repository, 'old'), 'gone\n-- too\n');
  await world.git('add', '.');
  await world.git('commit', '--quiet', '--message', 'Begin');
  await world.flagpost('config', 'set', 'land.review', 'true');
  for (const subject of subjects) await world.flagpost('add', subject);
  await world.up();
  await world.flagpost('run', '--worktrees', '--max-parallel', '1', '--agent', `sh ${agent}`);
  return world;
}

/** A page at this address, once its verbs are there. */
async function at(t, world, path, how) {
  const page = await enter(await visit(t, browser, how), world, path);
  await page.getByText('● live').first().waitFor();
  return page;
}

const change = (id) => `/lists/web/tasks/${id}#screen=landing&diff`;
const row = (page, id) => page.locator(`main tbody[data-task="${id}"]`);
const file = (page, path) => page.locator('.files > li').filter({ hasText: path });
/** The branch of a task, as git has it. */
const branchOf = async (world, id) => (await world.get('/v1/landing')).json.branches.find((it) => it.task === id).branch;

test('work is returned with a remark on a line, approved and landed, from the board alone', async (t) => {
  const world = await passed(t, 'Write the lexer', 'Write <b>the</b> parser');
  const page = await at(t, world, '/#screen=inbox');
  await page.getByRole('heading', { name: '2 need you' }).waitFor();
  await page.locator('section.waiting').getByText('1 Write the lexer: to review').click();
  await page.locator('.item').getByRole('link', { name: 'Diff' }).click();

  // Only what is opened is asked for; by keys alone a line is found.
  await file(page, 'src/part-1').getByText(`+${TEXTS.length + 2}`).waitFor();
  assert.equal(await page.locator('.patch').count(), 0);
  await page.keyboard.press(']');
  await page.keyboard.press(']');
  await page.keyboard.press('Enter');
  await file(page, 'old').locator('.gone').nth(1).waitFor();
  assert.equal(await file(page, 'old').locator('[data-n]').count(), 0);
  await page.keyboard.press(']');
  await page.keyboard.press('Enter');
  await file(page, 'src/part-1').locator('[data-n="2"]').getByText('second of 1').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'src/part-1:2' }).waitFor();
  await dialog.getByRole('textbox').fill('Name the <i>constant</i>');
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await page.locator('.patch .remark').getByText('Name the <i>constant</i>').waitFor();
  // A line is found by a click, too, and a remark can be taken back.
  await file(page, 'src/part-1').getByText('first of 1').click();
  await dialog.getByRole('textbox').fill('Never mind');
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await page.getByRole('listitem').filter({ hasText: 'src/part-1:1' }).filter({ hasText: 'Never mind' }).getByRole('button', { name: 'Remove' }).click();
  await page.locator('.patch .remark').getByText('Never mind').waitFor({ state: 'detached' });
  assert.deepEqual(await foundStrangers(page), { markup: [], ran: undefined });

  // Remarks wait while other screens are shown.
  await page.keyboard.press('Escape');
  await page.locator('.item').getByRole('link', { name: 'Diff' }).click();
  await page.getByText('Name the <i>constant</i>').waitFor();
  await drawn(page);
  await page.keyboard.press('n');
  await dialog.getByText('1 remark on lines').waitFor();
  await dialog.getByRole('textbox').fill('Keep the old option');
  await dialog.getByRole('button', { name: 'Return' }).click();
  await page.getByText('#1 is returned.').first().waitFor();
  assert.match(await world.flagpost('show', '1'), /pending[^]*returned by ann, .*Keep the old option/);
  const { landing } = JSON.parse(await world.flagpost('show', '1', '--json'));
  assert.equal(landing.refused.why, 'Keep the old option\n\nsrc/part-1:2\n> second of 1\nName the <i>constant</i>');
  await page.getByText('Name the <i>constant</i>').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });

  await page.getByRole('link', { name: '‹ Landing' }).click();
  await row(page, 1).getByText('returned by ann').waitFor();
  await row(page, 1).getByText('Why it was returned').click();
  await row(page, 1).locator('pre').getByText('Keep the old option').waitFor();
  assert.equal(await row(page, 1).getByRole('button').count(), 0);
  await row(page, 2).getByText('to review').waitFor();
  assert.equal(await row(page, 2).getByRole('button', { name: 'Land' }).count(), 0);
  await row(page, 2).getByRole('button', { name: 'Approve' }).click();
  await row(page, 2).getByText('approved by ann').waitFor();
  assert.equal(await row(page, 2).getByRole('button', { name: 'Approve' }).count(), 0);
  // What can land comes first.
  await drawn(page);
  await page.keyboard.press('j');
  await row(page, 2).locator('a:focus').waitFor();
  await page.keyboard.press('L');
  await dialog.getByRole('button', { name: 'Land' }).click();
  await page.locator('.landed li').filter({ hasText: '#2' }).waitFor();
  assert.match(await world.git('log', '--format=%s'), /Work of 2/);
  assert.doesNotMatch(await world.git('log', '--format=%s'), /Work of 1/);
  assert.match(await world.flagpost('show', '2'), /landed on/i);

  // The task's own page says the same, and leads to what landed.
  await page.locator('.landed').getByRole('link', { name: '#2' }).click();
  await page.locator('.task').getByText(/Landed on/).waitFor();
  await page.locator('.task').getByRole('link', { name: 'Diff' }).click();
  await page.getByText(/as it landed on/).waitFor();
  assert.deepEqual(page.faults, []);
});

test('a commit that came after the page was loaded is not approved, and is shown', async (t) => {
  const world = await passed(t, 'Write the lexer');
  const page = await at(t, world, change(1));
  await file(page, 'notes-1').waitFor();
  const branch = await branchOf(world, '1');
  const tree = (await world.git('worktree', 'list', '--porcelain')).split('\n\n').find((it) => it.includes(`branch refs/heads/${branch}`));
  const dir = /worktree (.*)/.exec(tree)[1];
  world.write(join(dir, 'later'), 'later\n');
  await world.git('-C', dir, 'add', '.');
  await world.git('-C', dir, 'commit', '--quiet', '--message', 'Later');
  await page.keyboard.press('y');
  await page.locator('.toast.error').filter({ hasText: 'nothing was decided' }).waitFor();
  assert.equal((await world.get('/v1/landing')).json.branches[0].approved, null);
  await file(page, 'later').waitFor();
  await page.keyboard.press('y');
  await page.getByText('approved by ann').waitFor();
  await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
  assert.equal((await world.get('/v1/landing')).json.branches[0].approved.by, 'ann');
});

test('what others decide is shown, and all that can land is landed at once', async (t) => {
  const world = await passed(t, 'Write the lexer', 'Write the parser');
  const page = await at(t, world, change(1));
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await world.flagpost('approve', '1', '2');
  await page.getByText('approved by ann').waitFor();
  await page.goto(`${world.daemon.http}/#screen=landing&list=web`);
  const landAll = async () => {
    await page.getByRole('button', { name: 'Land all…' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: /Land 2 branches on / }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Land' }).click();
  };
  // A check that fails without the work ends a landing, and lands nothing.
  await world.flagpost('config', 'set', 'land.check', 'false');
  await landAll();
  await page.getByText(/The last landing ended early.*the check fails on/).waitFor();
  await world.flagpost('config', 'unset', 'land.check');
  await page.keyboard.press('L');
  await page.getByRole('dialog').getByRole('button', { name: 'Land' }).click();
  await page.locator('.landed li').filter({ hasText: '#1' }).waitFor();
  await page.locator('.landed li').filter({ hasText: '#2' }).waitFor();
  assert.match(await world.git('log', '--format=%s'), /Work of 1[^]*Work of 2|Work of 2[^]*Work of 1/);
});

test('a change of 2,000 files is a list of which nothing is asked for', async (t) => {
  const world = await passed(t, 'Write the lexer');
  const branch = await branchOf(world, '1');
  const tree = (await world.git('worktree', 'list', '--porcelain')).split('\n\n').find((it) => it.includes(`branch refs/heads/${branch}`));
  const dir = /worktree (.*)/.exec(tree)[1];
  for (let n = 0; n < 2000; n += 1) world.write(join(dir, 'many', `file-${String(n).padStart(4, '0')}`), `${n}\n`);
  await world.git('-C', dir, 'add', '.');
  await world.git('-C', dir, 'commit', '--quiet', '--message', 'Many');
  const context = await visit(t, browser);
  const asked = [];
  context.on('request', (request) => request.url().includes('path=') && asked.push(request.url()));
  const page = await enter(context, world, change(1));
  await page.getByText('2003 files').waitFor();
  assert.equal(await page.locator('.files summary').count(), 2003);
  assert.deepEqual(asked, []);
  await file(page, 'many/file-1999').locator('summary').click();
  await page.locator('.patch [data-n="1"]').getByText('1999').waitFor();
  assert.equal(asked.length, 1);
  assert.equal(await page.locator('.patch').count(), 1);
});

test('every size and theme can be read', async (t) => {
  const world = await passed(t, 'Write the lexer', 'Write the parser');
  await world.flagpost('return', '2', 'Not so');
  for (const size of Object.values(SIZES)) {
    for (const scheme of SCHEMES) {
      const page = await at(t, world, change(1), { size, scheme });
      await file(page, 'src/part-1').locator('summary').click();
      await file(page, 'src/part-1').getByText('second of 1').click();
      await page.getByRole('dialog').getByRole('textbox').fill('Name it');
      await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
      await page.locator('.patch .remark').waitFor();
      assert.deepEqual(await faults(page), []);
      const over = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok((await over()) <= 0, `the change is ${await over()} too wide`);
      await page.goto(`${world.daemon.http}/#screen=landing&list=web`);
      await row(page, 2).getByText('returned by ann').waitFor();
      assert.deepEqual(await faults(page), []);
      assert.ok((await over()) <= 0, `the queue is ${await over()} too wide`);
      await page.goto(`${world.daemon.http}/#screen=inbox&open`);
      await page.locator('.item').getByRole('link', { name: 'Diff' }).waitFor();
      assert.deepEqual(await faults(page), []);
      await page.context().close();
    }
  }
  await until('nothing was decided by looking', async () => (await world.get('/v1/landing')).json.branches.every((it) => it.approved === null));
});
