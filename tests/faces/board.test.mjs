// What a person does on the board: a card is moved by pointer, by keys and by menu, each move is a verb, and
// what others do meanwhile appears.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { aloud, card, column, drag, openBoard } from './board.mjs';
import { open, settled, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });

const whole = await World.make({ after });
await whole.up();
await whole.post('/v1/workers', { id: 'W1' });
let lists = 0;

/** A list of the test's own in the one world: seven tasks in each column's state. */
async function board(t) {
  const list = `web${(lists += 1)}`;
  const subjects = ['Write the parser', 'Test the parser (after: 1)', 'Write the printer', 'Write the docs', 'Ask for the API', 'Name it', 'Ship it'];
  await whole.feed(subjects.map((subject) => `- [ ] ${subject}\n`).join(''), 'import', '-', '--from', 'markdown', '--list', list);
  for (const id of ['4', '5']) await whole.post(`/v1/tasks/${list}/${id}/claim?as=W1`);
  await whole.post(`/v1/tasks/${list}/5/stuck?as=W1`, { text: 'Which API?' });
  await whole.post(`/v1/tasks/${list}/6/done`, {});
  const world = {
    list,
    flagpost: (...args) => whole.flagpost(...args, '--list', list),
    task: async (id) => (await whole.get(`/v1/tasks/${list}/${id}`)).json,
  };
  const page = await openBoard(await visit(t, browser), whole, `/lists/${list}`);
  return { world, page };
}
const stateOf = async (world, id) => (await world.task(id)).state;

/** Answers the question in the dialog. */
async function answer(page, button, fields = {}) {
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(fields)) {
    const field = dialog.getByLabel(label);
    if ((await field.evaluate((it) => it.tagName)) === 'SELECT') await field.selectOption(value);
    else await field.fill(value);
  }
  await dialog.getByRole('button', { name: button, exact: true }).click();
}

test('the board has each task in the column of its state', async (t) => {
  const { page } = await board(t);
  for (const [id, lane] of [['1', 'ready'], ['3', 'ready'], ['7', 'ready'], ['4', 'claimed'], ['5', 'needs'], ['6', 'done']]) {
    await card(page, id, lane).waitFor();
  }
  assert.equal(await card(page, '2').count(), 0, 'what is blocked is folded');
  await page.getByRole('button', { name: /Blocked 1/ }).click();
  await card(page, '2', 'ready').waitFor();
  assert.match(await card(page, '2').innerText(), /waits for #1/);
  assert.deepEqual(page.faults, []);
});

test('a card is dragged to another column', async (t) => {
  const { world, page } = await board(t);
  const held = await drag(page, '1', 'claimed');
  await held.release();
  await answer(page, 'Claim', { For: 'W1' });
  await card(page, '1', 'claimed').waitFor();
  await until('it is claimed', async () => (await stateOf(world, '1')) === 'claimed');
  const { claim } = await world.task('1');
  assert.equal(claim.by, 'W1');
  assert.deepEqual(page.faults, []);
});

test('a card is moved by keys', async (t) => {
  const { world, page } = await board(t);
  await card(page, '1').focus();
  await page.keyboard.press('Space');
  await aloud(page, 'Grabbed #1').waitFor();
  for (let to = 0; to < 4; to += 1) await page.keyboard.press('ArrowRight');
  await aloud(page, '#1 over Done').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('It parses.');
  await page.keyboard.press('Enter');
  await card(page, '1', 'done').waitFor();
  await until('it is done', async () => (await stateOf(world, '1')) === 'completed');
  assert.match(JSON.stringify((await world.task('1')).result), /It parses\./);
  assert.deepEqual(page.faults, []);
});

test('a card that was grabbed is put back with Escape', async (t) => {
  const { world, page } = await board(t);
  await card(page, '1').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Escape');
  await aloud(page, 'Put back').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/lists\/web\d+\/tasks\/1/);
  assert.equal(await stateOf(world, '1'), 'pending');
});

test('a card is moved by its menu', async (t) => {
  const { world, page } = await board(t);
  await card(page, '1').focus();
  await page.keyboard.press('m');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await answer(page, 'Claim', { For: 'W1' });
  await card(page, '1', 'running').waitFor();
  await until('it runs', async () => (await stateOf(world, '1')) === 'in_progress');
  assert.deepEqual(page.faults, []);
});

test('a drop that cannot be is refused with its reason, and nothing is sent', async (t) => {
  const { world, page } = await board(t);
  const sent = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await page.getByRole('button', { name: /Blocked 1/ }).click();
  const held = await drag(page, '2', 'running');
  await aloud(page, 'Running: refused, waits for #1').waitFor();
  await page.getByText('⊘ waits for #1').waitFor();
  assert.match(await column(page, 'running').getAttribute('class'), /\brefused\b/);
  await held.release();
  await aloud(page, 'Refused: waits for #1').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await stateOf(world, '2'), 'pending');
  assert.deepEqual(sent, []);
  await card(page, '2', 'ready').waitFor();
});

test('a verb that the daemon refuses springs back, and its reason is at the card', async (t) => {
  const { world, page } = await board(t);
  const held = await drag(page, '1', 'claimed');
  await held.release();
  await page.getByRole('dialog').waitFor();
  // Somebody else is faster while the question is open.
  await world.flagpost('claim', '1', '--as', 'W1');
  await world.flagpost('done', '1', 'It parses.', '--as', 'W1');
  await answer(page, 'Claim', {});
  await page.locator('.toast.error').waitFor();
  await card(page, '1', 'done').waitFor();
  assert.match(await card(page, '1').locator('.fault').innerText(), /\w/);
});

test('a task that changes behind the page appears where it belongs', async (t) => {
  const { world, page } = await board(t);
  await world.flagpost('claim', '3', '--as', 'W1');
  await card(page, '3', 'claimed').waitFor();
  await world.flagpost('add', 'A new one');
  await card(page, '8', 'ready').waitFor();
  await world.flagpost('edit', '7', '--subject', 'Ship it today');
  await card(page, '7', 'ready').filter({ hasText: 'Ship it today' }).waitFor();
  await world.flagpost('done', '1', '-y');
  await card(page, '2', 'ready').waitFor();
  assert.deepEqual(page.faults, []);
});

test('no card moves while one is held, and all do when it is let go', async (t) => {
  const { world, page } = await board(t);
  const held = await drag(page, '7', 'needs');
  await world.flagpost('claim', '1', '--as', 'W1');
  await page.getByText('1 change', { exact: true }).waitFor();
  assert.equal(await card(page, '1', 'ready').count(), 1);
  await held.release();
  await card(page, '1', 'claimed').waitFor();
});

test('u takes the last change of this page back', async (t) => {
  const { world, page } = await board(t);
  await card(page, '1').focus();
  await page.keyboard.press('m');
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
  await answer(page, 'Done', {});
  await card(page, '1', 'done').waitFor();
  await page.getByRole('button', { name: /^Undo: #1/ }).waitFor();
  await page.keyboard.press('u');
  await card(page, '1', 'ready').waitFor();
  await until('it is pending', async () => (await stateOf(world, '1')) === 'pending');
});

test('u that is pressed before the answer takes back what was just done, and nothing where that failed', async (t) => {
  const { world, page } = await board(t);
  const finish = async (id) => {
    await card(page, id).focus();
    await page.keyboard.press('m');
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').getByLabel('How it ended').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  let answer;
  const late = new Promise((done) => (answer = done));
  await page.route(/\/v1\/tasks\/web\d+\/\d+\/done/, async (route) => {
    const told = await route.fetch();
    await late;
    await route.fulfill({ response: told });
  });
  await finish('1');
  await page.keyboard.press('u');
  assert.equal(await page.getByText('There is nothing of yours').count(), 0);
  answer();
  await aloud(page, 'Taken back: #1').waitFor();
  await until('it is pending', async () => (await stateOf(world, '1')) === 'pending');
  await page.unroute(/\/v1\/tasks\/web\d+\/\d+\/done/);
  await card(page, '1', 'ready').waitFor();
  await finish('3');
  await card(page, '3', 'done').waitFor();
  // The next one fails: what is taken back is not the one before it.
  let refuse;
  const later = new Promise((done) => (refuse = done));
  await page.route(/\/v1\/tasks\/web\d+\/1\/done/, async (route) => {
    await later;
    await route.fulfill({ status: 409, json: { message: 'Somebody else was faster.' } });
  });
  await finish('1');
  const asked = [];
  page.on('request', (request) => request.url().endsWith('/undo') && asked.push(request.url()));
  await page.keyboard.press('u');
  refuse();
  await page.locator('.toast.error').filter({ hasText: 'Somebody else was faster' }).waitFor();
  await settled(page);
  assert.deepEqual(asked, []);
  assert.equal(await stateOf(world, '3'), 'completed');
});

test('the focus returns to the card when its menu closes, and goes along to another column', async (t) => {
  const { page } = await board(t);
  const focused = (id) => until(`#${id} has the focus`, () => page.evaluate((id) => document.activeElement?.dataset.id === id, id));
  await card(page, '3').focus();
  await page.keyboard.press('m');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await focused('3');
  await page.keyboard.press('.');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.getByRole('dialog').getByLabel('For').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await focused('3');
  await page.keyboard.press('m');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await answer(page, 'Claim', { For: 'W1' });
  await card(page, '3', 'running').waitFor();
  await focused('3');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await focused('3');
});

test('a filter is in the address, and the address shows it again', async (t) => {
  const { world, page } = await board(t);
  await page.keyboard.press('/');
  await page.keyboard.type('printer');
  await until('the others are gone', async () => (await page.locator('a[data-id]').count()) === 1);
  assert.match(page.url(), /[?#&]q=printer/);
  await page.reload();
  await card(page, '3').waitFor();
  assert.equal(await page.locator('a[data-id]').count(), 1);
  assert.equal(await page.getByRole('searchbox').inputValue(), 'printer');
});
