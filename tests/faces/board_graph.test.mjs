// The graph: every task once, as it is now, in the order in which they wait for each other.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { enter, hold, open, overhear, settled, SIZES, visit } from './browser.mjs';
import { foundStrangers, TEXTS, TURNED } from './hostile.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });

const PLAN = [
  'Write the lexer', 'Write the parser (after: 1)', 'Test the parser (after: 2)', 'Write the docs', 'Ship it (after: 3, 4)',
].map((subject) => `- [ ] ${subject}\n`).join('');

/** A list of tasks as another program writes them: each with what it waits for, and its group. */
function write(world, tasks) {
  for (const { id, subject = `Task ${id}`, status = 'pending', blockedBy = [], group } of tasks) {
    const metadata = group === undefined ? {} : { task_group: group };
    world.write(join(world.list(), `${id}.json`), JSON.stringify({ id, subject, description: '', status, blocks: [], blockedBy, metadata }));
  }
}

/** The graph of a list that was made so. `asked` is what the page asked of the graph. */
async function graph(t, make, { path = '/lists/web#screen=graph', ...how } = {}) {
  const world = await World.make(t);
  await make(world);
  await world.up();
  const context = await visit(t, browser, how);
  await context.clock.install();
  const asked = [];
  context.on('request', (request) => new URL(request.url()).pathname === '/v1/graph' && asked.push(request.url()));
  const page = await enter(context, world, path);
  await page.locator('main[aria-busy="false"] h1').waitFor();
  return { world, page, asked };
}
const plan = (world) => world.feed(PLAN, 'import', '-', '--from', 'markdown');

const node = (page, id) => page.locator(`a[data-node="${id}"]`);
const all = (page, where) => page.locator(where).evaluateAll((found) => found.map((it) => it.getAttribute('data-node') ?? it.getAttribute('href')));
const edges = (page) => page.locator('.window path.edge').count();
/** Where the drawing lies in its window, and how large it is. */
const view = (page) => page.locator('.window > svg').evaluate((it) => it.style.transform);

test('each task is drawn once and is once in the tree, in its state', async (t) => {
  const { world, page } = await graph(t, plan);
  assert.deepEqual((await all(page, 'a[data-node]')).sort(), ['1', '2', '3', '4', '5']);
  const links = await all(page, '.tree a');
  assert.deepEqual(links.sort(), ['1', '2', '3', '4', '5'].map((id) => `/lists/web/tasks/${id}#screen=graph`));
  assert.equal(await edges(page), 4);
  await page.getByText('critical path of 4').waitFor();
  assert.equal(await page.locator('.node.critical').count(), 4);
  assert.match(await node(page, '1').textContent(), /#1.*pending.*Write the lexer/s);
  assert.match(await node(page, '5').textContent(), /blocked/);
  // Below the last task that it waits for.
  assert.equal(await page.locator('.tree ul ul ul ul a').textContent(), '#5 Ship it');
  const file = (await world.get('/v1/graph?list=web')).json;
  const corners = await page.locator('a[data-node]').evaluateAll((found) => found.map((it) => it.getAttribute('transform')));
  assert.deepEqual(corners, file.cards.map(({ x, y }) => `translate(${x} ${y})`));
  assert.deepEqual(page.faults, []);
});

test('a card follows its task without a request, and a new dependency is drawn', async (t) => {
  const { world, page, asked } = await graph(t, plan);
  const before = asked.length;
  await world.flagpost('worker', 'add', 'W1');
  await world.flagpost('claim', '1', '--as', 'W1');
  await page.locator('a[data-node="1"][data-state="claimed"]').waitFor();
  assert.match(await node(page, '1').textContent(), /claimed · W1/);
  await page.locator('.tree li').filter({ hasText: '#1' }).first().getByText('claimed · W1').waitFor();
  assert.equal(asked.length, before);
  await world.flagpost('task', 'dep', 'add', '4', '1');
  await until('the edge is drawn', async () => (await edges(page)) === 5);
  await world.flagpost('add', 'Tell of it');
  await node(page, '6').waitFor();
  await world.flagpost('task', 'dep', 'rm', '4', '1');
  await until('the edge is gone', async () => (await edges(page)) === 4);
  assert.deepEqual(page.faults, []);
});

test('however many changes are one request a second', async (t) => {
  const { world, page, asked } = await graph(t, plan);
  const hears = await overhear(page);
  await hold(page);
  const before = asked.length;
  for (const [second, subjects] of [Array.from({ length: 12 }, (_, n) => `More ${n}.`), ['One more.', 'The last.']].entries()) {
    await Promise.all(subjects.map((subject) => world.post('/v1/tasks', { subject })));
    for (const subject of subjects) await hears('list.changed', subject);
    await page.clock.runFor(1000);
    await until('all are drawn', async () => (await page.locator('a[data-node]').count()) === [17, 19][second]);
    await settled(page);
    assert.equal(asked.length - before, second + 1);
  }
});

test('the open tasks, and those from one task on, are in the address', async (t) => {
  const { world, page } = await graph(t, plan);
  await world.flagpost('done', '4');
  await page.locator('a[data-node="4"][data-state="completed"]').waitFor();
  await page.getByLabel('Only open').check();
  await node(page, '4').waitFor({ state: 'detached' });
  await page.getByLabel('From task').fill('#2');
  await page.keyboard.press('Enter');
  await node(page, '1').waitFor({ state: 'detached' });
  assert.deepEqual((await all(page, 'a[data-node]')).sort(), ['2', '3', '5']);
  assert.equal(new URL(page.url()).hash, '#screen=graph&open=1&root=2');
  await page.reload();
  await node(page, '2').waitFor();
  assert.deepEqual((await all(page, 'a[data-node]')).sort(), ['2', '3', '5']);
  await page.getByLabel('From task').fill('99');
  await page.keyboard.press('Enter');
  await page.locator('main .warn').filter({ hasText: '99' }).waitFor();
  await page.goBack();
  await node(page, '2').waitFor();
  await node(page, '3').click();
  await page.getByRole('link', { name: 'From #3 on' }).click();
  await node(page, '2').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: '#3 Test the parser' }).waitFor();
});

test('a card leads to its task, by the pointer and by keys, and the graph stays', async (t) => {
  const { page } = await graph(t, plan);
  const kept = await page.evaluate(() => (globalThis.kept = 1));
  await node(page, '2').click();
  await page.waitForURL(/\/lists\/web\/tasks\/2#screen=graph$/);
  await page.getByRole('heading', { name: '#2 Write the parser' }).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => url.pathname === '/lists/web');
  await node(page, '3').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/lists\/web\/tasks\/3/);
  await node(page, '3').waitFor();
  assert.equal(await page.evaluate(() => globalThis.kept), kept, 'the page was loaded anew');
  assert.deepEqual(page.faults, []);
});

test('the drawing is moved and scaled by keys, buttons, wheel and drag', async (t) => {
  const { page } = await graph(t, plan);
  let was = await view(page);
  const moves = async (what) => {
    await until(`${what} moves it`, async () => (await view(page)) !== was);
    was = await view(page);
  };
  for (const key of ['+', '-', '-', '0', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp']) {
    await page.keyboard.press(key);
    if (key !== '0') await moves(key);
  }
  await page.getByRole('button', { name: 'zoom in' }).click();
  await moves('the button');
  await page.mouse.move(500, 400);
  await page.mouse.wheel(0, -60);
  await moves('the wheel');
  const { x, y } = await node(page, '2').boundingBox();
  await page.mouse.move(x + 20, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 50, { steps: 4 });
  await moves('a drag');
  await page.mouse.up();
  assert.equal(new URL(page.url()).pathname, '/lists/web', 'a drag opens nothing');
  // A card that gets the focus comes into sight.
  for (let n = 0; n < 8; n += 1) await page.keyboard.press('+');
  for (let n = 0; n < 12; n += 1) await page.keyboard.press('ArrowRight');
  await node(page, '1').focus();
  const [box, frame] = [await node(page, '1').boundingBox(), await page.locator('.window').boundingBox()];
  assert.ok(box.x >= frame.x && box.y >= frame.y, JSON.stringify([box, frame]));
  assert.deepEqual(page.faults, []);
});

test('500 tasks come by group, and a group opens', async (t) => {
  const many = Array.from({ length: 500 }, (_, n) => ({ id: `${n + 1}`, group: n < 490 ? `team ${n % 5}` : undefined, blockedBy: n === 1 ? ['1'] : [] }));
  const { page } = await graph(t, (world) => write(world, many));
  assert.equal(await page.locator('.node').count(), 6);
  await page.getByText('500 tasks', { exact: true }).waitFor();
  const group = page.locator('.node').filter({ hasText: 'team 3' });
  assert.match(await group.textContent(), /98 tasks/);
  assert.match(await page.locator('.node').filter({ hasText: 'without a group' }).textContent(), /10 tasks/);
  await group.click();
  await until('the group is open', async () => (await page.locator('a[data-node]').count()) === 98);
  assert.match(new URL(page.url()).hash, /group=team\+3/);
  assert.deepEqual(await faults(page), []);
  await page.getByRole('link', { name: 'All groups' }).click();
  await until('all groups are there', async () => (await page.locator('.node').count()) === 6);
  // A task of one group that waits for one of another is no fault of the plan.
  await page.locator('.tree a').filter({ hasText: 'team 1' }).click();
  await node(page, '2').waitFor();
  assert.equal(await page.locator('main .warn').count(), 0);
  assert.deepEqual(await faults(page), []);
  assert.deepEqual(page.faults, []);
});

test('what waits for nothing that exists, and what waits for itself, is said in words', async (t) => {
  const bad = [{ id: '1', blockedBy: ['2'] }, { id: '2', blockedBy: ['3'] }, { id: '3', blockedBy: ['1'] }, { id: '4', blockedBy: ['77'] }];
  const { page } = await graph(t, (world) => write(world, bad));
  await page.getByText('These tasks wait for each other').waitFor();
  await page.getByText('not in this list').filter({ hasText: '#4 for #77' }).waitFor();
  assert.deepEqual((await all(page, 'a[data-node]')).sort(), ['1', '2', '3', '4']);
  assert.equal(await page.locator('.tree a').count(), 4);
  assert.equal(await page.locator('.edge.closing').count(), 1);
  assert.deepEqual(await faults(page), []);
});

for (const [name, size] of Object.entries(SIZES)) {
  test(`hostile subjects are text in the drawing and in the tree, ${name}`, async (t) => {
    const texts = [...TEXTS, TURNED];
    const { page } = await graph(t, (world) => write(world, texts.map((subject, n) => ({ id: `${n + 1}`, subject, group: subject, status: 'in_progress' }))), { size });
    await page.locator('.tree a').first().waitFor();
    const told = await page.locator('main').textContent();
    for (const text of TEXTS) assert.ok(told.includes(text), text);
    assert.doesNotMatch(told, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    assert.deepEqual(await foundStrangers(page), { markup: [], ran: undefined });
    assert.deepEqual(page.faults, []);
  });
}

test('on a narrow screen the tree stands alone', async (t) => {
  const { page } = await graph(t, plan, { size: SIZES.narrow });
  await page.locator('.tree a').first().waitFor();
  assert.equal(await page.locator('.window').count(), 0);
  assert.equal(await page.locator('.tree a').count(), 5);
  await page.locator('.tree a').filter({ hasText: '#3' }).click();
  await page.getByRole('heading', { name: '#3 Test the parser' }).waitFor();
});

test('a list without tasks, and one without open tasks, say so', async (t) => {
  const { world, page } = await graph(t, async (it) => void (await it.flagpost('done', (await it.flagpost('add', 'Name it', '--quiet')).trim())), { path: '/lists/web#screen=graph&open=1' });
  await page.getByText('No open task is here.').waitFor();
  await page.getByRole('link', { name: 'All tasks' }).click();
  await node(page, '1').waitFor();
  await world.post('/v1/tasks/web/1/remove');
  await page.getByRole('heading', { name: 'No tasks yet' }).waitFor();
});
