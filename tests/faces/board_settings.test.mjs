// The settings, the findings and the browsers; and the search of the palette, which finds words in every text.

import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { enter, hold, open, settled, signIn, visit } from './browser.mjs';
import { foundStrangers, TEXTS } from './hostile.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.flagpost('worker', 'add', 'W1');
await world.flagpost('config', 'set', 'run.max_parallel', '7');
await world.flagpost('add', 'Write the parser', '--description', 'It reads the grammar, which has ambiguous rules.');
await world.flagpost('add', 'Write the docs', '--description', `Quince ${TEXTS[0]} of the printer`);
await world.brief('W1', 'Merge the seal\n\nBeware of the quicksand.\n');
chmodSync(world.home, 0o755);
await world.up();

async function show(t, path = '/#screen=settings') {
  const page = await enter(await visit(t, browser), world, path);
  await page.locator('main h1').waitFor();
  await page.getByText('● live').waitFor();
  return page;
}

test('each value is shown with where it is from', async (t) => {
  const page = await show(t);
  const row = (key) => page.locator('.settings div').filter({ has: page.getByText(key, { exact: true }) });
  await row('run.max_parallel').getByText('from config.toml').waitFor();
  assert.match(await row('run.max_parallel').innerText(), /\b7\b/);
  assert.match(await row('claim.lease').innerText(), /15m\s+default/);
  assert.match(await row('run.agent').innerText(), /not set/);
  const told = (await world.get('/v1/config')).json.settings.map((it) => it.key);
  assert.deepEqual((await page.locator('.settings code').allInnerTexts()).sort(), told.sort());
  await page.getByText('flagpost config set').waitFor();
});

test('a finding is shown with its command, and looked for again by the button alone', async (t) => {
  const context = await visit(t, browser);
  const asked = [];
  context.on('request', (request) => new URL(request.url()).pathname === '/v1/doctor' && asked.push(request.url()));
  const page = await enter(context, world, '/#screen=settings');
  const finding = page.locator('li').filter({ hasText: 'others may look into the home' });
  await finding.getByText('warning').waitFor();
  await finding.getByText('flagpost doctor --fix').waitFor();
  assert.equal(asked.length, 1);
  await world.post('/v1/tasks', { subject: 'Something else' });
  chmodSync(world.home, 0o700);
  t.after(() => chmodSync(world.home, 0o755));
  await page.locator('header').getByRole('link', { name: '#3' }).waitFor();
  assert.equal(asked.length, 1);
  await page.getByRole('button', { name: 'Look again' }).click();
  await finding.waitFor({ state: 'detached' });
  assert.equal(asked.length, 2);
  assert.deepEqual(page.faults, []);
});

test('the browsers that are in are shown, with the command that signs them out', async (t) => {
  const page = await signIn(await visit(t, browser), world);
  await page.goto(`${world.daemon.http}/#screen=settings`);
  await page.locator('section').filter({ has: page.getByRole('heading', { name: 'Browsers' }) }).getByText('Chrome on Linux').first().waitFor();
  await page.getByText('flagpost board --sign-out').waitFor();
});

test('the choices of this browser act at once and are kept', async (t) => {
  const page = await show(t);
  await page.getByRole('combobox', { name: /^Theme/ }).selectOption('dark');
  await page.getByRole('combobox', { name: /^Density/ }).selectOption('roomy');
  await page.getByLabel('Single keys act').uncheck();
  const chosen = () => page.evaluate(() => ({ ...document.documentElement.dataset }));
  assert.deepEqual(await chosen(), { theme: 'dark', density: 'roomy' });
  await page.reload();
  await page.getByRole('combobox', { name: /^Theme/ }).waitFor();
  assert.deepEqual(await chosen(), { theme: 'dark', density: 'roomy' });
  assert.equal(await page.getByLabel('Single keys act').isChecked(), false);
  await page.getByRole('heading', { name: 'Settings' }).first().click();
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  assert.equal(new URL(page.url()).hash, '#screen=settings');
});

/** Opens the palette and types; the options that are found. */
async function sought(page, text) {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /words/ }).fill(text);
  return page.locator('#found').getByRole('option');
}

test('words of a description lead to the task', async (t) => {
  const page = await show(t);
  const found = (await sought(page, 'ambiguous')).filter({ hasText: 'description' });
  await found.waitFor();
  assert.equal(await found.locator('mark').innerText(), 'ambiguous');
  assert.deepEqual(await faults(page), []);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/lists\/web\/tasks\/1/);
  await page.getByRole('heading', { name: '#1 Write the parser' }).waitFor();
});

test('words of a brief lead to it in the inbox', async (t) => {
  const page = await show(t);
  await (await sought(page, 'quicksand')).filter({ hasText: 'Beware of the' }).click();
  await page.waitForURL(/\/inbox\/W1\/1/);
  await page.getByText('Beware of the quicksand.').waitFor();
});

test('one search is made for all that was typed, none for verbs, and words that nobody wrote are said to be none', async (t) => {
  const context = await visit(t, browser);
  const asked = [];
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/v1/search') asked.push(url.searchParams.get('text'));
  });
  await context.clock.install();
  const page = await enter(context, world);
  await page.getByText('● live').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /words/ }).waitFor();
  // Between two keys so much passes, however long they take.
  await hold(page);
  for (const key of 'zzyzx') {
    await page.keyboard.press(key);
    await page.clock.runFor(50);
  }
  await page.clock.runFor(1000);
  await page.getByText('Nothing is called that or says it.').waitFor();
  assert.deepEqual(asked, ['zzyzx']);
  await page.getByRole('combobox', { name: /words/ }).fill('>undo');
  await page.getByRole('option', { name: /Undo/ }).waitFor();
  await page.clock.runFor(10_000);
  await settled(page);
  assert.deepEqual(asked, ['zzyzx']);
});

test('what is found is text', async (t) => {
  const page = await show(t);
  await (await sought(page, 'quince')).filter({ hasText: TEXTS[0].slice(0, 20) }).waitFor();
  assert.deepEqual(await foundStrangers(page), { markup: [], ran: undefined });
  assert.deepEqual(page.faults, []);
});
