// The addresses of the board where there are several repositories: which one is shown, and what leads to no page.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { lend } from './assets.mjs';
import { enter, open, SIZES, visit } from './browser.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
const api = join(world.user, 'api');
await world.git('init', '--quiet', api);
await world.flagpostIn(api, 'init', '--yes');
await world.flagpostIn(api, 'add', 'Serve it');
await world.flagpostIn(api, 'run', '--agent', 'true', '--quiet');
await world.flagpost('add', 'Write it');
await world.flagpost('worker', 'add', 'W1');
await world.flagpost('worker', 'add', 'W2');
await world.flagpost('add', 'Test it');
await world.flagpost('claim', '2', '--as', 'W2');
await world.up();

const shownList = (page) => page.locator('.lists select').inputValue();

test('flagpost board opens at the repository that one stands in, and its links name it', async (t) => {
  for (const [dir, list] of [[world.repository, 'web'], [api, 'api']]) {
    const link = (await world.flagpostIn(dir, 'board', '--print')).trim();
    const [, repo] = /&repo=([^&]+)$/.exec(link);
    const context = await visit(t, browser);
    await lend(context, world.daemon.http);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByText('● live').waitFor();
    assert.equal(await shownList(page), list);
    for (const name of ['Fleet', 'Run', 'Landing', 'Messages', 'Settings']) {
      const href = await page.locator('nav.screens').getByRole('link', { name, exact: true }).getAttribute('href');
      assert.match(href, new RegExp(`[&#]repo=${repo}`));
    }
    assert.deepEqual(page.faults, []);
  }
});

test('a run is found by its id alone, and how its tasks ended is said in words', async (t) => {
  const repo = (await world.get('/v1/repositories')).json.repositories.find(({ name }) => name === 'api').id;
  const [{ id }] = (await world.get(`/v1/sessions?repo=${repo}`)).json.sessions;
  const page = await enter(await visit(t, browser), world, `/runs/${id}`);
  await page.getByText('Serve it').first().waitFor();
  assert.equal(new URL(page.url()).hash, `#repo=${repo}`);
  assert.match(await page.locator('main').innerText(), /\bpassed\b/);
  await page.goto(`${world.daemon.http}/runs/nosuch`);
  await page.getByText('No repository has a run of this name.').waitFor();
  assert.deepEqual(page.faults, []);
});

test('an address of no page is a page that leads back', async (t) => {
  const page = await enter(await visit(t, browser), world, '/nothing/here');
  await page.getByRole('heading', { name: 'There is no page /nothing/here' }).waitFor();
  await page.getByRole('link', { name: 'The first page' }).click();
  await page.getByText('● live').waitFor();
  await page.locator('.columns, .inbox').first().waitFor();
});

test('a worker with work is a card, and an idle one a row', async (t) => {
  const page = await enter(await visit(t, browser), world, '/#screen=fleet&list=web');
  await page.locator('.worker:not(.idle)').filter({ hasText: 'W2' }).waitFor();
  const idle = page.locator('.worker.idle');
  assert.match(await idle.innerText(), /W1\s+idle/);
  assert.ok((await idle.boundingBox()).height < 50);
});

test('on a phone what waits for the person is the first column', async (t) => {
  for (const [size, first] of [['narrow', 'Needs you'], ['wide', 'Ready']]) {
    const page = await enter(await visit(t, browser, { size: SIZES[size] }), world, '/lists/web');
    await page.locator('.columns h2').first().filter({ hasText: first }).waitFor();
  }
});
