// The board and its stream: cut off and back, with everything that happened meanwhile, and one stream for all
// tabs of a browser, which has six connections.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aloud, card, drag, openBoard } from './board.mjs';
import { open, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';
import { wire } from './wire.mjs';

/** A board with these tasks, and a browser whose way to the daemon can be cut. */
async function wired(t, subjects = ['Write the parser', 'Write the printer', 'Write the docs']) {
  const world = await World.make(t);
  await world.feed(subjects.map((subject) => `- [ ] ${subject}\n`).join(''), 'import', '-', '--from', 'markdown');
  await world.up();
  await world.post('/v1/workers', { id: 'W1' });
  const way = await wire(t, world.daemon.port);
  const context = await visit(t, await open(t, [way.rule]));
  return { world, way, context };
}

const live = (page) => page.getByText('● live').waitFor();
const lost = (page) => page.getByText('◌ reconnecting').waitFor();

test('a page that is cut off says so, shows its cards and sends nothing; once back it has all that happened', async (t) => {
  const { world, way, context } = await wired(t);
  const page = await openBoard(context, world);
  await live(page);
  way.cut();
  await lost(page);
  await card(page, '1', 'ready').waitFor();
  await card(page, '1').focus();
  await page.keyboard.press('m');
  await page.getByRole('dialog').getByRole('button', { name: /not connected/ }).first().waitFor();
  await page.keyboard.press('Escape');
  await world.flagpost('claim', '1', '--as', 'W1');
  await world.flagpost('done', '2', '-y');
  await world.flagpost('add', 'A fourth');
  way.mend();
  await live(page);
  await card(page, '1', 'claimed').waitFor();
  await card(page, '2', 'done').waitFor();
  await card(page, '4', 'ready').waitFor();
  await aloud(page, 'Caught up: 3 changes.').waitFor();
  assert.deepEqual(page.faults.filter((it) => !it.startsWith('console: Failed to load resource: net::')), []);
});

test('a page that was cut off and missed nothing says nothing', async (t) => {
  const { world, way, context } = await wired(t);
  const page = await openBoard(context, world);
  await live(page);
  way.cut();
  await lost(page);
  way.mend();
  await live(page);
  await world.flagpost('claim', '1', '--as', 'W1');
  await card(page, '1', 'claimed').waitFor();
  assert.equal(await page.getByText(/Caught up/).count(), 0);
});

test('all tabs of a browser share one stream, and the next one leads when the first is closed', async (t) => {
  const { world, context } = await wired(t);
  const streams = [];
  context.on('request', (request) => new URL(request.url()).pathname === '/v1/events' && streams.push(request));
  const first = await openBoard(context, world);
  const pages = [];
  for (let tab = 0; tab < 7; tab += 1) {
    const page = await context.newPage();
    await page.goto(`${world.daemon.http}/lists/web`);
    await card(page, '1', 'ready').waitFor();
    pages.push(page);
  }
  const before = streams.length;
  assert.ok(streams.filter((it) => it.frame().page() !== first).length === 0, 'only the first tab listens');
  await world.flagpost('claim', '1', '--as', 'W1');
  for (const page of pages) await card(page, '1', 'claimed').waitFor();
  await first.close();
  await until('another tab listens', () => streams.length > before);
  await world.flagpost('add', 'A fourth');
  for (const page of pages) await card(page, '4', 'ready').waitFor();
  assert.equal(streams.length, before + 1);
});

test('with a storm of changes a card is dragged all the same', async (t) => {
  const { world, context } = await wired(t, Array.from({ length: 30 }, (_, n) => `Task ${n + 1}`));
  const page = await openBoard(context, world);
  await live(page);
  let sent = 0;
  let isOver = false;
  const storm = (async () => {
    for (; !isOver; sent += 1) {
      const id = 2 + (sent % 29);
      await world.post(`/v1/tasks/web/${id}/edit`, { subject: `Task ${id}, change ${sent}` });
    }
  })();
  try {
    await until('it storms', () => sent > 50);
    await page.getByText(/change \d\d/).first().waitFor();
    await card(page, '1').scrollIntoViewIfNeeded();
    const held = await drag(page, '1', 'claimed');
    await held.release();
    await page.getByRole('dialog').getByLabel('For').selectOption('W1');
    await page.getByRole('dialog').getByRole('button', { name: 'Claim', exact: true }).click();
    await card(page, '1', 'claimed').waitFor();
    await until('it is claimed', async () => (await world.get('/v1/tasks/web/1')).json.claim?.by === 'W1');
  } finally {
    isOver = true;
    await storm;
  }
  const told = (await world.get('/v1/tasks/web/2')).json.subject;
  await card(page, '2').filter({ hasText: told }).waitFor();
});
