// The board with 10,000 tasks: how soon the first card is there, how little of it is in the page, and whether
// the page keeps up with fifty changes a second.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { card, column, openBoard } from './board.mjs';
import { open, visit } from './browser.mjs';
import { until, World } from './world.mjs';

const TASKS = 10_000;
/** The first card is there so soon, warm. */
const FIRST_CARD = 500;
/** So many elements are in the page. */
const NODES = 600;
/** A task of the page's thread that takes longer is felt. */
const FELT = 50;

const browser = await open({ after });
const world = await World.make({ after });
const STATES = ['pending', 'pending', 'pending', 'in_progress', 'completed'];
for (let id = 1; id <= TASKS; id += 1) {
  const status = STATES[id % STATES.length];
  const blockedBy = id % 10 === 0 ? [`${id - 9}`] : [];
  const task = { id: `${id}`, subject: `Task ${id} of many`, description: 'To be done.', status, blocks: [], blockedBy };
  world.write(join(world.list(), `${id}.json`), JSON.stringify(task));
}
await world.up();

test('the first card of 10,000 is there within half a second', async (t) => {
  const context = await visit(t, browser);
  await context.addInitScript(() => {
    const look = () => {
      if (document.querySelector('a[data-id]') === null) return requestAnimationFrame(look);
      globalThis.firstCard = performance.now();
    };
    requestAnimationFrame(look);
  });
  const page = await openBoard(context, world);
  const times = [];
  for (let again = 0; again < 5; again += 1) {
    await page.reload();
    times.push(await until('the first card', () => page.evaluate(() => globalThis.firstCard)));
  }
  t.diagnostic(`first card after ${times.map(Math.round).join(', ')} ms`);
  assert.ok(Math.min(...times) <= FIRST_CARD, `${times.map(Math.round)} ms`);
});

test('only the cards in sight are in the page, wherever a column is scrolled', async (t) => {
  const page = await openBoard(await visit(t, browser), world);
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  const counts = [await nodes()];
  for (const part of [0.5, 1, 0]) {
    await column(page, 'ready').locator('.scroll').first().evaluate((it, part) => it.scrollTo(0, it.scrollHeight * part), part);
    await page.waitForTimeout(100);
    counts.push(await nodes());
  }
  t.diagnostic(`elements: ${counts.join(', ')}`);
  assert.ok(counts.every((it) => it <= NODES), counts.join(', '));
  await card(page, '1', 'ready').waitFor();
});

test('the page keeps up with fifty changes a second, and asks for none of them', async (t) => {
  const page = await openBoard(await visit(t, browser), world);
  await page.waitForTimeout(500);
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((it) => it.duration))).observe({ type: 'longtask' });
  });
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const began = Date.now();
  for (let n = 0; n < 150; n += 1) {
    const id = `${5 * n + 1}`;
    void world.post(`/v1/tasks/web/${id}/edit`, { subject: `Task ${id}, changed` });
    await new Promise((done) => setTimeout(done, began + (n + 1) * 20 - Date.now()));
  }
  await card(page, '1').filter({ hasText: 'changed' }).waitFor();
  const long = await page.evaluate(() => globalThis.long);
  t.diagnostic(`long tasks: ${long.map(Math.round).join(', ') || 'none'}`);
  assert.deepEqual(long.filter((it) => it > FELT).map(Math.round), []);
  assert.deepEqual(asked, []);
});
