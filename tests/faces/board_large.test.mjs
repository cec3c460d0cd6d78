// The board with 10,000 tasks: how soon the first card is there, how little of it is in the page, and whether
// the page keeps up with fifty changes a second.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listen } from './asking.mjs';
import { card, column, openBoard } from './board.mjs';
import { open, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const TASKS = 10_000;
/** The first card is there so soon, warm. */
const FIRST_CARD = 500;
/** So many elements are in the page. */
const NODES = 600;
/** A change takes so much of the page's main thread: fifty a second leave half of it free. */
const CHANGE = 10;

// Its scripts are as fast as a person's.
const browser = await open({ after }, ['--js-flags=']);
const world = await World.make({ after });
for (const subject of ['Pending', 'Running', 'Done']) await world.flagpost('add', subject);
await world.up();
await world.post('/v1/workers', { id: 'W1' });
await world.post('/v1/tasks/web/2/claim?as=W1');
await world.post('/v1/tasks/web/2/start?as=W1');
await world.post('/v1/tasks/web/3/done');

/** The state as the daemon tells it, with its tasks again and again: what is tried here is the page. */
const told = await listen({ socketPath: world.socket, path: '/v1/events?with=outlines', headers: { host: 'flagpost' } });
const state = await until('the state', () => JSON.parse(/^event: daemon.resync\ndata: (.*)\n\n/m.exec(told.text)[1]));
told.close();
const [list] = state.repositories[0].lists;
const one = list.tasks;
list.tasks = Array.from({ length: TASKS }, (_, n) => {
  const like = n % 5 < 3 ? one[0] : one[n % 5 - 2];
  return { ...like, id: `${n + 1}`, subject: `Task ${n + 1} of many`, key: like.key === null ? null : `${like.key}${String(n).padStart(9, '0')}` };
});
const MANY = `event: daemon.resync\ndata: ${JSON.stringify(state)}\n\n`;

/** What the page's thread does is measured, not the daemon: the state is here once its text is parsed. */
function watch() {
  const { parse } = JSON;
  JSON.parse = (text, ...more) => {
    if (text.length < 100_000) return parse(text, ...more);
    globalThis.cameAt ??= performance.now();
    return (globalThis.state = parse(text, ...more));
  };
  const look = () => {
    if (document.querySelector('a[data-id]') === null) return requestAnimationFrame(look);
    globalThis.firstCard = performance.now();
  };
  requestAnimationFrame(look);
  // The stream: the state of all, and then what the test tells.
  const real = globalThis.fetch;
  globalThis.fetch = async (path, how) => {
    if (!String(path).startsWith('/v1/events')) return real(path, how);
    const { body, status, headers } = await real('/v1/many');
    const { readable, writable } = new TransformStream();
    void body.pipeTo(writable, { preventClose: true }).then(() => {
      const writer = writable.getWriter();
      globalThis.tell = (text) => writer.write(new TextEncoder().encode(text));
    });
    return new Response(readable, { status, headers });
  };
  globalThis.long = [];
  new PerformanceObserver((list) => {
    globalThis.long.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration })));
  }).observe({ type: 'longtask', buffered: true });
}

/** A page of the 10,000 that is watched. */
async function watched(t, path) {
  const context = await visit(t, browser);
  await context.addInitScript(watch);
  await context.route('**/v1/many', (route) => route.fulfill({ contentType: 'text/event-stream', body: MANY }));
  return openBoard(context, world, path);
}

/** How many milliseconds the page's main thread has worked: on a busy machine the clock says more. */
async function worked(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find((it) => it.name === 'TaskDuration').value;
  };
}

test('the first card of 10,000 comes, and its time is told', async (t) => {
  const page = await watched(t);
  const work = await worked(page);
  const times = [];
  const clock = [];
  for (let again = 0; again < 3; again += 1) {
    // The work of a page is counted from its navigation on.
    await page.reload();
    await until('the first card', () => page.evaluate(() => globalThis.firstCard));
    times.push(Math.round(await work()));
    clock.push(await page.evaluate(() => Math.round(globalThis.firstCard - globalThis.cameAt)));
  }
  t.diagnostic(`first card after ${times.join(', ')} ms of work (${FIRST_CARD} are wanted), ${clock.join(', ')} ms after the state`);
  assert.ok(times.every((it) => it > 0), `${times} ms`);
});

test('only the cards in sight are in the page, wherever a column is scrolled', async (t) => {
  const page = await watched(t);
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

test('only the rows in sight of the list are in the page, each with its place, sorted and filtered', async (t) => {
  const page = await watched(t, '/lists/web#screen=list');
  const rows = page.locator('.rows');
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  const row = (id) => page.locator(`tr:has(#row-${id})`);
  assert.equal(await page.getByRole('table').getAttribute('aria-rowcount'), `${TASKS + 1}`);
  const counts = [await nodes()];
  for (const part of [0.5, 1]) {
    await rows.evaluate((it, part) => it.scrollTo(0, it.scrollHeight * part), part);
    await page.waitForTimeout(100);
    counts.push(await nodes());
  }
  assert.equal(await row(TASKS).getAttribute('aria-rowindex'), `${TASKS + 1}`);
  await page.locator('th.of-id a').click();
  await page.waitForFunction((last) => document.querySelector('tbody tr[aria-rowindex="2"] a')?.id === `row-${last}`, TASKS);
  assert.equal(await rows.evaluate((it) => it.scrollTop), 0);
  counts.push(await nodes());
  await page.keyboard.press('End');
  await until('the last row has the focus', () => page.evaluate(() => document.activeElement?.id === 'row-1'));
  await page.keyboard.press('k');
  await until('the one before it has the focus', () => page.evaluate(() => document.activeElement?.id === 'row-2'));
  await page.keyboard.press('/');
  await page.keyboard.type('state:done -777');
  await page.getByText('No task matches').waitFor();
  await page.getByRole('searchbox').fill('"Task 7777"');
  await row('7777').waitFor();
  await page.getByRole('searchbox').fill('#777');
  await until('those that match', async () => (await page.getByRole('table').getAttribute('aria-rowcount')) === '2');
  counts.push(await nodes());
  t.diagnostic(`elements: ${counts.join(', ')}`);
  assert.ok(counts.every((it) => it <= NODES), counts.join(', '));
});

test('the list scrolls through 10,000 rows, and its work is told', async (t) => {
  const page = await watched(t, '/lists/web#screen=list');
  await page.waitForTimeout(300);
  const work = await worked(page);
  const before = await work();
  const steps = await page.evaluate(async () => {
    const it = document.querySelector('.rows');
    const steps = 120;
    for (let step = 1; step <= steps; step += 1) {
      it.scrollTop = (it.scrollHeight * step) / steps;
      await new Promise(requestAnimationFrame);
    }
    return steps;
  });
  const each = ((await work()) - before) / steps;
  t.diagnostic(`${each.toFixed(1)} ms of work for a frame (16 are there)`);
  assert.ok(each > 0 && (await page.locator(`#row-${TASKS}`).count()) === 1, `${each} ms`);
});

test('the page keeps up with fifty changes a second, half of them moves, and asks for none of them', async (t) => {
  const page = await watched(t);
  await until('the stream is open', () => page.evaluate(() => globalThis.tell !== undefined));
  await page.waitForTimeout(500);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const work = await worked(page);
  const before = await work();
  const last = await page.evaluate(async () => {
    const [repository] = globalThis.state.repositories;
    const [{ list, tasks }] = repository.lists;
    globalThis.beganAt = performance.now();
    for (let n = 0; n < 150; n += 1) {
      const task = { ...tasks[(n * 61) % tasks.length], subject: `Changed ${n}` };
      if (n % 2 === 0) Object.assign(task, { state: 'in_progress', ready: false });
      const change = { repo: repository.id, list, tasks: [task], removed: [] };
      globalThis.tell(`event: list.changed\ndata: ${JSON.stringify(change)}\n\n`);
      await new Promise((done) => setTimeout(done, globalThis.beganAt + (n + 1) * 20 - performance.now()));
    }
    return tasks[0].id;
  });
  await card(page, last).filter({ hasText: 'Changed 0' }).waitFor();
  const long = await page.evaluate(() => globalThis.long.filter((it) => it.startTime >= globalThis.beganAt).map((it) => Math.round(it.duration)));
  const each = ((await work()) - before) / 150;
  t.diagnostic(`${each.toFixed(1)} ms of work for a change (${CHANGE} are wanted); tasks of more than 50 ms by the clock: ${long.join(', ') || 'none'}`);
  assert.ok(each > 0, `${each} ms`);
  assert.deepEqual(asked, []);
});
