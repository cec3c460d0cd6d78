// The daemon starts anew under an open page: the page says that it is cut off, then how to sign in, and is
// back where it was once a link was followed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { lend } from './assets.mjs';
import { card } from './board.mjs';
import { isFirst, open, signIn, visit } from './browser.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.flagpost('add', 'Write the parser');
await world.up();

const WORDS = 'not signed in';
const link = async () => (await world.flagpost('board', '--print')).trim();

/** A browser at an address, whose session ends with its daemon. */
async function cutOff(t, path, killed = false) {
  if (world.daemon === null) await world.up();
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  await page.goto(`${world.daemon.http}${path}`);
  await page.getByText('● live').waitFor();
  await card(page, '1').waitFor();
  if (killed) await world.kill();
  else await world.down();
  await page.getByText('◌ reconnecting').waitFor();
  await card(page, '1').waitFor();
  await world.up();
  await lend(context, world.daemon.http);
  await page.getByText(WORDS).waitFor();
  await page.getByText('flagpost board').waitFor();
  assert.equal(await card(page, '1').count(), 0, 'nothing of before is shown');
  return { context, page };
}

for (const [how, killed] of [['ends', false], ['is killed', true]]) {
  test(`where the daemon ${how} and another starts, a link in the same tab leads back to where the page was`, async (t) => {
    const { page } = await cutOff(t, '/lists/web#q=parser', killed);
    await page.goto(await link());
    await card(page, '1', 'ready').waitFor();
    assert.equal(page.url(), `${world.daemon.http}/lists/web#q=parser`);
    await page.getByText('● live').waitFor();
  });
}

test('a link that is opened in another tab brings the tabs back that waited, each where it was', async (t) => {
  const { context, page } = await cutOff(t, '/lists/web/tasks/1');
  // One that was loaded anew meanwhile is shown the words by the daemon itself.
  const second = await context.newPage();
  assert.equal((await second.goto(`${world.daemon.http}/lists/web#q=parser`)).status(), 401);
  const tab = await context.newPage();
  await tab.goto(await link());
  await tab.waitForURL(isFirst);
  await card(page, '1', 'ready').waitFor();
  await card(second, '1', 'ready').waitFor();
  assert.deepEqual([page.url(), second.url()], [`${world.daemon.http}/lists/web/tasks/1`, `${world.daemon.http}/lists/web#q=parser`]);
  await world.flagpost('add', 'Write the printer', '--quiet');
  await card(second, '1').waitFor();
});

test('a tab whose session is over lends its key to nobody', async (t) => {
  const { context } = await cutOff(t, '/lists/web');
  const tab = await context.newPage();
  await tab.goto(await link());
  await tab.waitForURL(isFirst);
  for (let again = 0; again < 3; again += 1) {
    const next = await context.newPage();
    await next.goto(`${world.daemon.http}/lists/web`);
    await card(next, '1', 'ready').waitFor();
    await next.close();
  }
});

test('the page of a link that was used can be loaded again, and says how to get in', async (t) => {
  if (world.daemon === null) await world.up();
  const used = await link();
  const first = await (await visit(t, browser)).newPage();
  await first.goto(used);
  await first.waitForURL(isFirst);
  const page = await (await visit(t, browser)).newPage();
  await page.goto(used);
  const shown = async () => {
    await page.getByText('there is no such link').or(page.getByText('This link was used')).waitFor();
    await page.locator('pre').getByText('flagpost board').waitFor();
  };
  await shown();
  assert.equal((await page.reload()).status(), 200);
  await shown();
  await page.goto(await link());
  await page.waitForURL(isFirst);
});
