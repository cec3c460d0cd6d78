// The board with 10,000 tasks: how little of it is in the page, and how little of that a change or a scroll makes
// anew. How long that takes is told, and asserted nowhere.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listen } from './asking.mjs';
import { card, column, openBoard } from './board.mjs';
import { open, settled, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const TASKS = 10_000;
/** The first card is wanted so soon, warm. */
const FIRST_CARD = 500;
/** What each page asks for at its beginning, beside the state: what needs the person. */
const OF_MAIL = ['/v1/messages/open', '/v1/needs', '/v1/relay/inbox', '/v1/relay/outbox'];
/** So many elements are in the page. */
const NODES = 600;
/** A change is wanted to take so much of the page's main thread: fifty a second leave half of it free. */
const CHANGE = 10;
/** So many elements a change may make: few of those that change are in sight. */
const OF_CHANGE = 5;

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

/** How many elements the page has made, from now on. */
async function made(page) {
  await page.evaluate(() => {
    globalThis.made = 0;
    const count = (it) => (it instanceof Element ? 1 + it.querySelectorAll('*').length : 0);
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) for (const it of addedNodes) globalThis.made += count(it);
    }).observe(document.body, { childList: true, subtree: true });
  });
  return () => page.evaluate(() => globalThis.made);
}

/** Scrolls to this part of what a box holds, and waits until entries fill its middle. */
async function scroll(box, part) {
  await box.evaluate((it, part) => it.scrollTo(0, it.scrollHeight * part), part);
  await until('the entries in sight are drawn', () =>
    box.evaluate((it) => {
      const { left, top, width, height } = it.getBoundingClientRect();
      const isThere = (at) => document.elementFromPoint(left + width / 2, top + height * at)?.closest('a[data-id], tr[aria-rowindex]') != null;
      return [0.3, 0.5, 0.7].every(isThere);
    }),
  );
}

/** A page of the 10,000 that is watched; `asked` is what it has asked the daemon for. */
async function watched(t, path) {
  const context = await visit(t, browser);
  const asked = [];
  context.on('request', (request) => request.url().includes('/v1/') && asked.push(new URL(request.url()).pathname));
  await context.addInitScript(watch);
  await context.route('**/v1/many', (route) => route.fulfill({ contentType: 'text/event-stream', body: MANY }));
  return { page: await openBoard(context, world, path), asked };
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

test('the first card of 10,000 comes from one request, and its time is told', async (t) => {
  const { page, asked } = await watched(t);
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
  await settled(page);
  assert.deepEqual(asked.filter((it) => !OF_MAIL.includes(it)), Array(1 + times.length).fill('/v1/many'));
});

test('only the cards in sight are in the page, wherever a column is scrolled', async (t) => {
  const { page } = await watched(t);
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  const counts = [await nodes()];
  for (const part of [0.5, 1, 0]) {
    await scroll(column(page, 'ready').locator('.scroll').first(), part);
    counts.push(await nodes());
  }
  t.diagnostic(`elements: ${counts.join(', ')}`);
  assert.ok(counts.every((it) => it <= NODES), counts.join(', '));
  await card(page, '1', 'ready').waitFor();
});

test('only the rows in sight of the list are in the page, each with its place, sorted and filtered', async (t) => {
  const { page } = await watched(t, '/lists/web#screen=list');
  const rows = page.locator('.rows');
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  const row = (id) => page.locator(`tr:has(#row-${id})`);
  assert.equal(await page.getByRole('table').getAttribute('aria-rowcount'), `${TASKS + 1}`);
  const counts = [await nodes()];
  for (const part of [0.5, 1]) {
    await scroll(rows, part);
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

test('the list makes only the rows that come into sight as it scrolls through 10,000, and its work is told', async (t) => {
  const { page } = await watched(t, '/lists/web#screen=list');
  const work = await worked(page);
  const elements = await made(page);
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
  await page.locator(`#row-${TASKS}`).waitFor();
  const each = (await elements()) / steps;
  t.diagnostic(`${(((await work()) - before) / steps).toFixed(1)} ms of work for a frame (16 are there), ${each.toFixed(1)} elements`);
  assert.ok(each > 0 && each <= NODES, `${each} elements for a step`);
});

test('a change makes only its own card anew, wherever it moves, and nothing is asked for it', async (t) => {
  const { page, asked } = await watched(t);
  await until('the stream is open', () => page.evaluate(() => globalThis.tell !== undefined));
  const elements = await made(page);
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
      // What comes within a frame is drawn together: each has its own.
      await new Promise(requestAnimationFrame);
    }
    return tasks[0].id;
  });
  await card(page, last).filter({ hasText: 'Changed 0' }).waitFor();
  const long = await page.evaluate(() => globalThis.long.filter((it) => it.startTime >= globalThis.beganAt).map((it) => Math.round(it.duration)));
  const each = (await elements()) / 150;
  t.diagnostic(`${(((await work()) - before) / 150).toFixed(1)} ms of work for a change (${CHANGE} are wanted), ${each.toFixed(1)} elements; tasks of more than 50 ms by the clock: ${long.join(', ') || 'none'}`);
  assert.ok(each > 0 && each <= OF_CHANGE, `${each} elements for a change`);
  await until('what waits is known', () => OF_MAIL.every((it) => asked.includes(it)));
  await settled(page);
  assert.deepEqual(asked.toSorted(), ['/v1/many', ...OF_MAIL], 'each once, at the beginning');
});
