// The board with 10,000 tasks: how soon the first card is there, how little of it is in the page, and whether
// the page keeps up with fifty changes a second.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { listen } from './asking.mjs';
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
// Warm: the daemon has read them all, and told them once.
const warm = await listen({ socketPath: world.socket, path: '/v1/events?with=outlines', headers: { host: 'flagpost' } });
await until('the state of all', () => warm.text.endsWith('\n\n') && warm.text.includes(`"id":"${TASKS}"`), 60_000);
warm.close();

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
  // A test tells the page more, behind what the daemon tells.
  const real = globalThis.fetch;
  globalThis.fetch = async (path, how) => {
    const answer = await real(path, how);
    if (!String(path).startsWith('/v1/events')) return answer;
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    globalThis.tell = (text) => writer.write(new TextEncoder().encode(text));
    void answer.body.pipeTo(new WritableStream({ write: (part) => writer.write(part) })).catch(() => writer.close());
    return new Response(readable, { status: answer.status, headers: answer.headers });
  };
  globalThis.long = [];
  new PerformanceObserver((list) => {
    globalThis.long.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration })));
  }).observe({ type: 'longtask', buffered: true });
}

/** A page of the 10,000 that is watched. */
async function watched(t) {
  const context = await visit(t, browser);
  await context.addInitScript(watch);
  return openBoard(context, world);
}

test('the first card of 10,000 is there half a second after the state', async (t) => {
  const page = await watched(t);
  const times = [];
  for (let again = 0; again < 3; again += 1) {
    await page.reload();
    await until('the first card', () => page.evaluate(() => globalThis.firstCard));
    times.push(await page.evaluate(() => Math.round(globalThis.firstCard - globalThis.cameAt)));
  }
  t.diagnostic(`first card after ${times.join(', ')} ms`);
  assert.ok(Math.min(...times) <= FIRST_CARD, `${times} ms`);
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

test('the page keeps up with fifty changes a second, half of them moves, and asks for none of them', async (t) => {
  const page = await watched(t);
  await page.waitForTimeout(1000);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
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
  t.diagnostic(`tasks of more than ${FELT} ms: ${long.join(', ') || 'none'}`);
  assert.deepEqual(long, []);
  assert.deepEqual(asked, []);
});
