// Two browsers with sessions of their own decide at once: the first decision stands, the second is told what
// happened, and nothing is done twice.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { card, decidable, drag, openBoard } from './board.mjs';
import { drawn, enter, open, visit } from './browser.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.flagpost('worker', 'add', 'W1');
await world.flagpost('worker', 'add', 'W2');
await world.flagpost('add', 'Write the parser');
await world.up();
// They end with the browser.
const contexts = [await visit({ after() {} }, browser), await visit({ after() {} }, browser)];
const pages = [await enter(contexts[0], world), await enter(contexts[1], world)];

/** A brief that both look at; its number. */
async function both(body) {
  const { seq } = (await world.brief('W1', body)).brief;
  for (const page of pages) {
    await page.goto(`${world.daemon.http}/inbox/W1/${seq}`);
    await page.locator('.exactly').getByText(body).waitFor();
    await decidable(page);
    page.faults.length = 0;
  }
  return seq;
}

/** Holds back what a page is told of mail, so that it decides on what it saw; `go` lets it hear again. */
async function deaf(page) {
  let go;
  const held = new Promise((done) => (go = done));
  await page.route(/\/v1\/relay\/inbox(\?|$)/, async (route) => {
    await held;
    // The page may be elsewhere by then.
    await route.continue().catch(() => {});
  });
  return go;
}

const decisions = async (seq) => (await world.get('/v1/history?limit=0')).json.lines.filter((it) => it.kind === 'relay.decided' && it.seq === seq);
const brief = async (seq) => (await world.get(`/v1/relay/inbox/W1/${seq}`)).json;
const toast = (page, text) => page.locator('.toast').filter({ hasText: text });

const acts = {
  let_through: (page) => page.keyboard.press('y'),
  reject: async (page) => {
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel(/Why/).fill('Not now.');
    await page.keyboard.press('Enter');
  },
  edit: async (page, words = 'Merge it, no tests') => {
    await page.keyboard.press('e');
    await page.getByLabel('The words that the worker gets').fill(words);
    await page.getByRole('button', { name: 'Approve this' }).click();
  },
};

for (const [first, second, decision] of [['let_through', 'reject', 'ratified'], ['let_through', 'edit', 'ratified'], ['reject', 'let_through', 'rejected'], ['edit', 'let_through', 'edited'], ['edit', 'reject', 'edited']]) {
  test(`one does ${first.replace('_', ' ')}, the other ${second.replace('_', ' ')}: the first stands, and the second is told`, async () => {
    const seq = await both(`Merge it: ${first}, ${second}`);
    const [one, other] = pages;
    const hears = await deaf(other);
    const statuses = [];
    const note = (response) => response.url().includes('/outbox/ratify') && statuses.push(response.status());
    other.on('response', note);
    await acts[first](one);
    await until('the first is decided', async () => (await brief(seq)).verdict !== null);
    await acts[second](other, 'Merge it, my way');
    await until('the second has its answer', () => statuses.length === 1);
    hears();
    await toast(other, 'Nothing was decided').waitFor();
    other.off('response', note);
    assert.deepEqual(statuses, [409]);
    await other.getByText(/ann has decided on it/).waitFor();
    if (first === 'edit') await other.locator('.warn .diff .added').getByText('Merge it, no tests').waitFor();
    else assert.equal(await other.locator('.warn .diff').count(), 0, 'the text is the same');
    if (second === 'edit') assert.equal(await other.getByLabel('The words that the worker gets').inputValue(), 'Merge it, my way', 'one keeps one\'s words');
    assert.deepEqual((await decisions(seq)).map((it) => it.detail.decision), [decision]);
    assert.equal((await brief(seq)).body.trim(), first === 'edit' ? 'Merge it, no tests' : `Merge it: ${first}, ${second}`);
    await other.locator('.toast.error button').click();
  });
}

test('both approve it at the same moment: it is decided once, and the second is told so', async () => {
  const seq = await both('Merge it together');
  const [one, other] = pages;
  const hears = await deaf(other);
  await acts.let_through(one);
  await until('the first is decided', async () => (await brief(seq)).verdict !== null);
  await acts.let_through(other);
  await toast(other, `W1 ${seq} was approved already`).waitFor();
  hears();
  assert.equal((await decisions(seq)).length, 1);
});

test('a brief that another decides on stays on the screen, and says what happened before a key is pressed', async () => {
  const seq = await both('Merge the cursor');
  const next = (await world.brief('W1', 'Merge the ledger')).brief.seq;
  const [one, other] = pages;
  await acts.edit(one);
  await other.getByText(/ann has decided on it: edited and approved/).waitFor();
  await other.locator('.diff .gone').getByText('Merge the cursor').waitFor();
  await drawn(other);
  await other.keyboard.press('y');
  await toast(other, 'it is decided already').waitFor();
  assert.equal((await brief(next)).verdict, null, 'the key does not hit the next one');
  assert.equal((await decisions(seq)).length, 1);
  await other.keyboard.press('j');
  await other.locator('.exactly').getByText('Merge the ledger').waitFor();
  await world.post('/v1/relay/outbox/ratify', { scope: 'all' });
});

test('Y approves what it named, without the one that came meanwhile and the one that the other rejected', async () => {
  const first = await both('Merge the first');
  const [one, other] = pages;
  const second = (await world.brief('W1', 'Merge the second')).brief.seq;
  await one.getByRole('button', { name: /Merge the second/ }).waitFor();
  await one.keyboard.press('j');
  await one.locator('.exactly').getByText('Merge the second').waitFor();
  await decidable(one);
  await one.keyboard.press('Y');
  const dialog = one.getByRole('dialog');
  await dialog.getByText(`W1 ${first}, W1 ${second}`).waitFor();
  await acts.reject(other);
  await until('the other has rejected', async () => (await brief(first)).verdict !== null);
  const third = (await world.brief('W1', 'Delete everything')).brief.seq;
  await one.getByText('Delete everything').first().waitFor();
  await dialog.getByRole('button', { name: 'Approve 2' }).click();
  await toast(one, '1 of 2 approved').waitFor();
  await toast(one, `brief ${String(first).padStart(4, '0')} of W1 is rejected already`).waitFor();
  assert.equal((await brief(third)).verdict, null);
  assert.equal((await brief(second)).decision, 'ratified');
  for (const [seq, decision] of [[first, 'rejected'], [second, 'ratified']]) {
    assert.deepEqual((await decisions(seq)).map((it) => it.detail.decision), [decision]);
  }
});

test('one card that both drag is claimed once, and the second is told whose it is', async (t) => {
  const boards = [await openBoard(await visit(t, browser), world), await openBoard(await visit(t, browser), world)];
  const held = [];
  for (const page of boards) held.push(await drag(page, '1', 'claimed'));
  for (const it of held) await it.release();
  for (const [n, page] of boards.entries()) {
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('For').selectOption(`W${n + 1}`);
  }
  for (const page of boards) await page.getByRole('dialog').getByRole('button', { name: 'Claim', exact: true }).click();
  await until('one is told', async () => (await Promise.all(boards.map((page) => page.locator('.toast.error').count()))).filter((it) => it > 0).length === 1);
  const { claim } = (await world.get('/v1/tasks/web/1')).json;
  const late = boards[claim.by === 'W1' ? 1 : 0];
  await late.locator('.toast.error').filter({ hasText: claim.by }).waitFor();
  for (const page of boards) await card(page, '1', 'claimed').filter({ hasText: claim.by }).or(card(page, '1', 'claimed').filter({ has: page.locator('.fault') })).waitFor();
  const claims = (await world.get('/v1/history?limit=0')).json.lines.filter((it) => it.kind === 'task.claimed' && it.task === '1');
  assert.equal(claims.length, 1);
});
