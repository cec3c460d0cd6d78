// Decisions on briefs in the Inbox: each is about exactly the words that were on the screen.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { aloud, decidable } from './board.mjs';
import { drawn, enter, open, SIZES, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });

/** Briefs that wait, and the page of the first. */
async function inbox(t, ...bodies) {
  const world = await World.make(t);
  await world.flagpost('worker', 'add', 'W1');
  for (const body of bodies) await world.brief('W1', body);
  await world.up();
  const context = await visit(t, browser);
  const page = await enter(context, world, '/inbox/W1/1');
  await page.getByRole('heading', { name: 'To W1' }).waitFor();
  await decidable(page);
  return { world, page, context };
}

const waiting = async (world) => (await world.get('/v1/relay/inbox')).json.briefs.filter((it) => it.stage === 'pending').map((it) => it.brief.seq);
const brief = async (world, seq) => (await world.get(`/v1/relay/inbox/W1/${seq}`)).json;

/** Somebody writes other words into the file of a brief. */
function rewrite(world, seq, text) {
  const [repo] = readdirSync(join(world.home, 'repos'));
  world.write(join(world.home, 'repos', repo, 'workers/W1/inbox', `${String(seq).padStart(4, '0')}.brief`), text);
}

test('y approves the brief that is shown', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal', 'Merge the lexer');
  await page.keyboard.press('y');
  await until('the first is decided', async () => (await waiting(world)).join() === '2');
  await page.getByText('Merge the lexer').first().waitFor();
  assert.deepEqual(page.faults, []);
});

test('a key that is pressed twice decides once', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal', 'Merge the lexer');
  // However long the test takes, the next one has only just come up.
  const now = await page.evaluate(() => Date.now());
  await page.clock.setFixedTime(now);
  await page.keyboard.press('y');
  await page.keyboard.press('y');
  await page.locator('button[aria-current=true]').filter({ hasText: 'Merge the lexer' }).waitFor();
  await decidable(page);
  await page.keyboard.press('y');
  await aloud(page, 'The item has just changed: press again.').waitFor();
  assert.deepEqual(await waiting(world), [2]);
  await page.clock.setFixedTime(now + 1000);
  await page.keyboard.press('y');
  await until('the second is decided too', async () => (await waiting(world)).length === 0);
});

test('n rejects with a reason, which the worker is told', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal');
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByLabel(/Why/).fill('Not before the review.');
  await page.keyboard.press('Enter');
  await until('it is rejected', async () => (await waiting(world)).length === 0);
  assert.match(JSON.stringify(await brief(world, 1)), /rejected.*Not before the review\.|Not before the review\..*rejected/);
});

test('e shows what is changed, and approves exactly that', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal');
  await page.keyboard.press('e');
  await page.getByLabel('The words that the worker gets').fill('Merge the seal, no tests');
  await page.getByRole('heading', { name: 'Changed' }).waitFor();
  await page.getByRole('button', { name: 'Approve this' }).click();
  await until('it is decided', async () => (await waiting(world)).length === 0);
  assert.equal((await brief(world, 1)).body.trim(), 'Merge the seal, no tests');
});

for (const [key, decide] of Object.entries({
  y: async (page) => page.keyboard.press('y'),
  n: async (page) => {
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel(/Why/).fill('No.');
    await page.keyboard.press('Enter');
  },
  e: async (page) => {
    await page.keyboard.press('e');
    await page.getByLabel('The words that the worker gets').fill('Merge the seal, no tests');
    await page.getByRole('button', { name: 'Approve this' }).click();
  },
})) {
  test(`${key} decides nothing where the brief was changed meanwhile, and shows what is new`, async (t) => {
    const { world, page } = await inbox(t, 'Merge the seal');
    const statuses = [];
    await page.route(/\/v1\/relay\/outbox\/ratify/, async (route) => {
      rewrite(world, 1, 'Delete the seal');
      const told = await route.fetch();
      statuses.push(told.status());
      await route.fulfill({ response: told });
    });
    await decide(page);
    await page.locator('.toast.error').filter({ hasText: 'Nothing was decided' }).waitFor();
    assert.deepEqual(statuses, [409]);
    await page.getByText('Delete the seal').first().waitFor();
    const told = await brief(world, 1);
    assert.equal(told.decision, null);
    assert.notEqual(told.stage, 'ratified');
  });
}

test('Y approves those that it named, and not the one that came meanwhile', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal', 'Merge the lexer');
  await page.keyboard.press('j');
  await page.locator('.exactly').getByText('Merge the lexer').waitFor();
  await decidable(page);
  await page.keyboard.press('Y');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('W1 1, W1 2').waitFor();
  await world.brief('W1', 'Delete everything');
  await page.getByText('Delete everything').first().waitFor();
  await dialog.getByRole('button', { name: 'Approve 2' }).click();
  await aloud(page, '2 of 2 approved').waitFor();
  assert.deepEqual(await waiting(world), [3]);
});

test('Y leaves what was not read to its end, and says how many', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal', 'Merge the lexer');
  await page.keyboard.press('Y');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('W1 1. 1 brief not read to the end: left as it is.').waitFor();
  await dialog.getByRole('button', { name: 'Approve 1' }).click();
  await aloud(page, '1 of 1 approved').waitFor();
  assert.deepEqual(await waiting(world), [2]);
});

test('a brief that is longer than the screen is decided on only once its end was in sight', async (t) => {
  const world = await World.make(t);
  await world.flagpost('worker', 'add', 'W1');
  await world.brief('W1', `${Array.from({ length: 300 }, (_, n) => `Step ${n}`).join('\n')}\nThe end.\n`);
  await world.up();
  const page = await enter(await visit(t, browser), world, '/inbox/W1/1');
  await page.getByText('Step 3', { exact: false }).first().waitFor();
  await drawn(page);
  await page.keyboard.press('y');
  await aloud(page, 'read to its end first').waitFor();
  assert.deepEqual(await waiting(world), [1]);
  await page.getByText('── end').scrollIntoViewIfNeeded();
  await decidable(page);
  await page.keyboard.press('y');
  await until('it is decided', async () => (await waiting(world)).length === 0);
});

test('a new brief appears in the list, and the one that is read stays where it is', async (t) => {
  const { world, page } = await inbox(t, 'Merge the seal');
  await world.brief('W1', 'Merge the lexer');
  await page.getByRole('button', { name: /Merge the lexer/ }).waitFor();
  assert.match(page.url(), /\/inbox\/W1\/1/);
  await aloud(page, '1 new in the Inbox').waitFor();
});

test('on a phone the verbs of a long brief stay in reach, approve not beside reject', async (t) => {
  const world = await World.make(t);
  await world.flagpost('worker', 'add', 'W1');
  await world.brief('W1', `${Array.from({ length: 300 }, (_, n) => `Step ${n}`).join('\n')}\nThe end.\n`);
  await world.up();
  const page = await enter(await visit(t, browser, { size: SIZES.narrow }), world, '/inbox/W1/1');
  await page.getByText('Step 3', { exact: false }).first().waitFor();
  const reach = async () => {
    const found = [];
    for (const name of ['Approve', 'Edit…', 'Reject…']) {
      const button = page.getByRole('button', { name });
      const { x, y, width, height } = await button.boundingBox();
      const isOnTop = await button.evaluate((it) => {
        const { left, top, width, height } = it.getBoundingClientRect();
        return it.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      assert.ok(isOnTop && y >= 0 && y + height <= SIZES.narrow.height && height >= 44, `${name} at ${x} ${y} ${width} ${height}`);
      found.push(x);
    }
    assert.deepEqual(found, [...found].sort((a, b) => a - b), 'edit lies between');
    assert.ok(found[1] - found[0] > 60 && found[2] - found[1] > 60, found.join(' '));
  };
  await reach();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
  await reach();
  await page.getByText('── end').scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await reach();
  await decidable(page);
  await page.getByRole('button', { name: 'Approve' }).click();
  await until('it is decided', async () => (await waiting(world)).length === 0);
});

test('what needs a person is listed as everywhere, and what there is to read is below it', async (t) => {
  const world = await World.make(t);
  await world.flagpost('worker', 'add', 'W1');
  for (const [id, subject] of [['1', 'Choose'], ['2', 'Build'], ['3', 'Ship']]) {
    await world.flagpost('add', subject);
    await world.flagpost('claim', id, '--as', 'W1');
  }
  await world.flagpost('stuck', '1', 'TOML or JSON?', '--as', 'W1');
  await world.flagpost('fail', '2', 'It broke', '--as', 'W1');
  await world.brief('W1', 'Merge the seal');
  await world.flagpost('worker', 'report', 'All is well', '--kind', 'freeform', '--as', 'W1');
  await world.up();
  const page = await enter(await visit(t, browser), world, '/#screen=inbox');
  await page.getByRole('heading', { name: '3 need you' }).waitFor();
  assert.equal(await page.title(), '(3) Flagpost');
  const status = JSON.parse(await world.flagpost('status', '--json'));
  assert.deepEqual(status.needs.needs.map(({ kind }) => kind), ['brief', 'stuck', 'failed']);
  const rows = page.locator('section.waiting li');
  assert.deepEqual((await rows.allInnerTexts()).map((it) => /Merge the seal|#1 Choose|#2 Build|All is well/.exec(it)?.[0]), ['Merge the seal', '#1 Choose', '#2 Build', 'All is well']);
  await page.getByRole('heading', { name: 'To read 1' }).waitFor();
  // What is settled elsewhere goes from here, too.
  await world.flagpost('retry', '2');
  await page.getByRole('heading', { name: '2 need you' }).waitFor();
  assert.deepEqual(page.faults, []);
});
