// The list: rows are marked, and a verb acts on all that are marked, with one question and one answer.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { aloud, openBoard } from './board.mjs';
import { open, SIZES, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });

/** The list of twelve tasks; W1 holds the third. */
async function list(t, more) {
  const world = await World.make(t);
  const subjects = Array.from({ length: 12 }, (_, n) => `- [ ] Task number ${n + 1} {group: ${n % 2 ? 'odd' : 'even'}}\n`);
  await world.feed(subjects.join(''), 'import', '-', '--from', 'markdown');
  await world.up();
  await world.post('/v1/workers', { id: 'W1' });
  await world.post('/v1/tasks/web/3/claim?as=W1');
  const page = await openBoard(await visit(t, browser, more), world, '/lists/web#screen=list');
  return { world, page, states: async () => Object.fromEntries((await world.get('/v1/tasks?limit=0')).json.tasks.map((it) => [it.id, it.state])) };
}

const focused = (page, id) => until(`#${id} has the focus`, () => page.evaluate((id) => document.activeElement?.id === `row-${id}`, id));

test('x marks rows, and a verb acts on all of them with one question and one answer', async (t) => {
  const { page, states } = await list(t);
  await page.locator('#row-1').focus();
  for (const id of ['1', '2', '3']) {
    await focused(page, id);
    await page.keyboard.press('x');
    await aloud(page, `#${id} marked`).waitFor();
    await page.keyboard.press('j');
  }
  await page.getByText('3 marked').first().waitFor();
  await page.keyboard.press('.');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: '3 marked tasks' }).waitFor();
  await dialog.getByRole('button', { name: /Claim as….*2 of 3/ }).waitFor();
  await dialog.getByRole('button', { name: /Done….*3 of 3/ }).click();
  // One of them is another's.
  await dialog.getByRole('heading', { name: '1 of them belongs to W1' }).waitFor();
  await dialog.getByRole('button', { name: 'Yes, for W1' }).click();
  await dialog.getByLabel('How it ended').fill('They parse.');
  await page.keyboard.press('Enter');
  await page.locator('.toast').filter({ hasText: 'Done: 3 of 3 tasks.' }).waitFor();
  const now = await states();
  assert.deepEqual(['1', '2', '3', '4'].map((id) => now[id]), ['completed', 'completed', 'completed', 'pending']);
  await focused(page, '4');
  assert.deepEqual(page.faults, []);
});

test('what is refused for one of the marked is said in the one answer, and the others are done', async (t) => {
  const { world, page, states } = await list(t);
  for (const id of ['4', '5']) await page.getByRole('checkbox', { name: `Mark #${id}`, exact: true }).check();
  await focused(page, '5');
  await page.keyboard.press('m');
  await page.getByRole('dialog').getByRole('button', { name: /Claim as/ }).click();
  await page.getByRole('dialog').getByLabel('For').selectOption('W1');
  // Somebody else is faster while the question is open.
  await world.post('/v1/tasks/web/4/done', {});
  await page.getByRole('dialog').getByRole('button', { name: 'Claim', exact: true }).click();
  await page.locator('.toast.error').filter({ hasText: 'Claim: 1 of 2 tasks.' }).filter({ hasText: '#4: ' }).waitFor();
  assert.deepEqual([(await states())['4'], (await states())['5']], ['completed', 'claimed']);
  assert.equal(await page.locator('.toast').count(), 1);
});

test('X marks all that the filter keeps, and nothing that it hides is touched', async (t) => {
  const { page, states } = await list(t);
  await page.keyboard.press('/');
  await page.keyboard.type('group:odd');
  await page.getByText('6 tasks').waitFor();
  await page.keyboard.press('Tab');
  await page.locator('#row-2').focus();
  await page.keyboard.press('X');
  await page.getByText('6 marked').first().waitFor();
  await page.getByRole('searchbox').fill('group:odd number 1');
  await page.getByText('2 marked').first().waitFor();
  await page.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /Cancel….*2 of 2/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the tasks' }).click();
  await page.locator('.toast').filter({ hasText: 'Cancel: 2 of 2 tasks.' }).waitFor();
  const now = await states();
  assert.deepEqual(Object.keys(now).filter((id) => now[id] === 'cancelled').sort(), ['10', '12']);
});

test('a row that changes behind the page goes where it belongs', async (t) => {
  const { world, page } = await list(t);
  await page.getByRole('link', { name: 'Subject' }).click();
  await page.locator('th[aria-sort="ascending"]').filter({ hasText: 'Subject' }).waitFor();
  await world.flagpost('edit', '12', '--subject', 'A first one');
  await until('it is the first', () => page.evaluate(() => document.querySelector('tbody tr[aria-rowindex="2"] a')?.id === 'row-12'));
  await world.flagpost('claim', '5', '--as', 'W1');
  await page.locator('tr:has(#row-5)').getByText('claimed').waitFor();
});

test('marked rows and their menu have no fault, on a phone too', async (t) => {
  for (const size of Object.values(SIZES)) {
    const { page } = await list(t, { size });
    await page.getByRole('checkbox', { name: 'Mark #2', exact: true }).check();
    assert.deepEqual(await faults(page), []);
    await page.getByRole('button', { name: /^Actions/ }).click();
    await page.getByRole('dialog').waitFor();
    assert.deepEqual(await faults(page), []);
  }
});
