// The pages for everybody: in each size and colour scheme, WCAG 2.2 AA without a fault.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { faults, inAllColours, tooWide } from './access.mjs';
import { aloud, card, openBoard } from './board.mjs';
import { drawn, open, SIZES, visit } from './browser.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.flagpost('worker', 'add', 'W1');
// Without a commit there is no branch to land on.
await world.git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
await world.feed(
  ['Write the parser {priority: high, group: core}', 'Test the parser (after: 1)', 'Write the docs', 'Ask for the API', 'Name it', 'Drop it', 'Ship it']
    .map((subject) => `- [ ] ${subject}\n`).join(''),
  'import', '-', '--from', 'markdown',
);
await world.brief('W1', 'Merge the seal of the parser\n\nAll of it.\n');
const { http } = await world.up();
/** A task in each state. */
for (const id of ['3', '4', '6', '7']) await world.post(`/v1/tasks/web/${id}/claim?as=W1`);
await world.post('/v1/tasks/web/7/start?as=W1');
await world.post('/v1/tasks/web/4/stuck?as=W1', { text: 'Which **API**?' });
await world.post('/v1/tasks/web/6/fail?as=W1', { text: 'No.' });
await world.post('/v1/tasks/web/5/done', { text: 'Named.' });

/** Shows the letters of a page in nearly twice their size, as a browser does that is told to. */
async function large(page) {
  await page.evaluate(() => (document.documentElement.style.fontSize = '175%'));
  await drawn(page);
}

/** Every screen that the page has a link to, a task and a brief. */
async function screens(page) {
  const links = await page.locator('nav a[href]').evaluateAll((all) => all.map((it) => it.getAttribute('href')));
  assert.ok(links.length >= 9, links.join(' '));
  return [...links, '/lists/web/tasks/1#screen=graph', '/lists/web/tasks/1', '/lists/web/tasks/4', '/inbox/W1/1'];
}

test('axe sees a fault where there is one', async (t) => {
  const page = await (await visit(t, browser)).newPage();
  await page.goto(`${http}/login/x`);
  await page.evaluate(() => document.documentElement.removeAttribute('lang'));
  const [fault] = await faults(page);
  assert.match(fault, /^html-has-lang: /);
});

for (const [name, size] of Object.entries(SIZES)) {
  test(`the pages of the sign-in have no fault, ${name}, in each colour scheme`, async (t) => {
    const context = await visit(t, browser, { size });
    const page = await context.newPage();
    for (const [path, words] of [['/', 'not signed in'], ['/login/x', 'This link is not whole'], ['/login/x#y', 'there is no such link']]) {
      await page.goto(`${http}${path}`);
      await page.getByText(words).waitFor();
      assert.deepEqual(await inAllColours(page, path), []);
    }
  });

  test(`no screen has a fault, ${name}, in each colour scheme`, async (t) => {
    const page = await openBoard(await visit(t, browser, { size, reducedMotion: 'reduce' }), world);
    const found = [];
    for (const path of await screens(page)) {
      // Each address is loaded anew: whatever can be shown can be linked.
      await page.goto('about:blank');
      const told = await page.goto(`${http}${path}`);
      assert.equal(told.status(), 200, path);
      await page.locator('main:not([aria-busy="true"]):not(:has([aria-busy="true"]))').locator('h1, h2').first().waitFor();
      await page.getByText('● live').waitFor();
      await page.waitForLoadState('load');
      found.push(...(await inAllColours(page, path)), ...(await tooWide(page, path)));
      await large(page);
      found.push(...(await tooWide(page, `${path} in large letters`)));
    }
    assert.deepEqual([...found, ...page.faults], []);
  });

  test(`letters of twice their size cut nothing off, ${name}`, async (t) => {
    const page = await openBoard(await visit(t, browser, { size }), world);
    await large(page);
    const last = page.getByRole('navigation', { name: 'Screens' }).locator('a, button').filter({ visible: true }).last();
    await last.scrollIntoViewIfNeeded();
    const { x, width } = await last.boundingBox();
    assert.ok(x >= 0 && x + width <= size.width + 1, `${x} ${width}`);
  });
}

test('with colours of the system\'s own one sees which screen is shown and what is chosen', async (t) => {
  const page = await openBoard(await visit(t, browser, { forcedColors: 'active' }), world);
  const edge = (at) => at.evaluate((it) => getComputedStyle(it).borderBottomColor);
  const tabs = page.getByRole('navigation', { name: 'Screens' });
  assert.notEqual(await edge(tabs.locator('a[aria-current]')), await edge(tabs.locator('a:not([aria-current])').first()));
  await page.keyboard.press('Control+k');
  const outline = (of) => page.getByRole('dialog').getByRole('option', of).first().evaluate((it) => getComputedStyle(it).outlineStyle);
  assert.equal(await outline({ selected: true }), 'solid');
  assert.equal(await outline({ selected: false }), 'none');
});

test('the dialogs have no fault either', async (t) => {
  for (const size of Object.values(SIZES)) {
    const page = await openBoard(await visit(t, browser, { size }), world);
    for (const keys of [['c'], ['m'], ['?'], ['Control+k', 't', 'h', 'e']]) {
      await card(page, '1').focus();
      for (const key of keys) await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      assert.deepEqual(await faults(page), [], keys.join(' '));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
  }
});

test('a key that follows at once is for the dialog, and not for the page below it', async (t) => {
  const page = await openBoard(await visit(t, browser), world);
  await card(page, '1').focus();
  for (const [key, ctrlKey] of [['k', true], ['m', false], ['?', false]]) {
    const isOpen = await page.evaluate(async ([key, ctrlKey]) => {
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true }));
      // The next key is a task of its own, and this is the next task.
      const { port1, port2 } = new MessageChannel();
      await new Promise((next) => {
        port1.onmessage = next;
        port2.postMessage(null);
      });
      return document.querySelector('dialog[open]')?.contains(document.activeElement);
    }, [key, ctrlKey]);
    assert.equal(isOpen, true, key);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await card(page, '1').focus();
  }
});

test('every screen is reached and left by keys alone', async (t) => {
  const page = await openBoard(await visit(t, browser), world);
  const titles = [['l', /List|tasks?/i], ['g', /Graph/], ['s', /Settings/], ['i', /Inbox|wait/], ['f', /Fleet|worker/i], ['r', /Run|session/i], ['m', /Messages?/i], ['e', /Files?|reserv/i], ['b', /Board/]];
  for (const [key, title] of titles) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.locator('main h1').filter({ hasText: title }).first().waitFor({ state: 'attached' });
  }
  await card(page, '1').waitFor();
  await page.keyboard.press('Control+k');
  const sought = page.getByRole('combobox').or(page.getByRole('dialog').getByRole('textbox')).or(page.getByRole('searchbox')).first();
  await sought.waitFor();
  await page.keyboard.type('#3');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/lists\/web\/tasks\/3/);
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.pathname.includes('/tasks/'));
});

test('Tab goes through the page and through one card of a column, and shows where it is', async (t) => {
  const page = await openBoard(await visit(t, browser), world);
  const seen = [];
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const it = document.activeElement;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(it);
      const isShown = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
      return { name: it.tagName, id: it.dataset.id ?? null, lane: it.closest('[data-lane]')?.dataset.lane ?? null, isShown };
    });
    if (at.name === 'BODY') break;
    seen.push(at);
  }
  assert.ok(seen.length > 10 && seen.length < 60, `${seen.length} stops`);
  assert.deepEqual(seen.filter((it) => !it.isShown), []);
  const lanes = seen.filter((it) => it.id !== null).map((it) => it.lane);
  assert.deepEqual(lanes, [...new Set(lanes)], 'one stop for each column');
  assert.ok(lanes.length >= 3, lanes.join(' '));
});

test('the acts of the person are said aloud', async (t) => {
  const page = await openBoard(await visit(t, browser), world);
  await card(page, '1').focus();
  await page.keyboard.press('Space');
  await aloud(page, 'Grabbed #1').waitFor();
  await page.keyboard.press('Escape');
  await aloud(page, 'Put back').waitFor();
});
