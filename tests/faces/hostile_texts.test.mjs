// Agents' text is text: on each page, whatever it says, it runs nothing, asks for nothing and makes no markup.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { enter, open, SCHEMES, SIZES, visit } from './browser.mjs';
import { foundStrangers, TEXTS, TURNED } from './hostile.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.flagpost('worker', 'add', 'W1');
/** Agents write the files by hand, and say what they like in every one of their fields. */
[...TEXTS, TURNED].forEach((text, n) => {
  const metadata = { task_group: text, priority: text, tags: [text], flagpost: { note: text }, [text]: { [text]: text } };
  const task = { id: `${n + 1}`, subject: text, description: `${text}\n\n${text}`, activeForm: text, owner: text, metadata };
  world.write(join(world.list(), `${n + 1}.json`), JSON.stringify({ ...task, status: 'in_progress', blocks: [], blockedBy: [text] }));
});
for (const text of TEXTS) await world.brief('W1', `${text}\n\n${text}\n`);
const live = join(world.repository, '.claude/sessions/__live_session__');
world.write(join(live, 'progress.md'), `Status: ${TEXTS[0]}\nUpdated: ${TEXTS[1]}\n\n## Active Tasks\n- [1] ${TEXTS[0]} — ${TEXTS[1]}\n`);
world.write(join(world.list(), 'execution_pointer.md'), `${live}\n`);
world.write(join(world.list(TEXTS[0].replaceAll('/', ' ')), '1.json'), JSON.stringify({ id: '1', subject: TEXTS[0], status: 'pending' }));
const { http } = await world.up();

/** Every page that there is: those that a link can lead to, and those before. */
const PAGES = ['/', '/lists/web', '/lists/web#screen=graph', '/lists/web/tasks/1', '/lists/web/tasks/3', '/inbox/W1/1', '/inbox/W1/3', '/runs/__live_session__'];

test('the test would see a text that became markup, and one that the policy stopped', async (t) => {
  const page = await enter(await visit(t, browser), world);
  const told = await page.evaluate(([text]) => {
    const image = document.createElement('img');
    image.src = 'x';
    document.body.append(image);
    fetch('http://flagpost.example/').catch(() => {});
    try {
      document.body.innerHTML = text;
    } catch (error) {
      return error.name;
    }
    return 'markup';
  }, TEXTS);
  assert.equal(told, 'TypeError');
  assert.equal((await foundStrangers(page)).markup.length, 1);
  await until('both violations are seen', () => ['connect-src', 'require-trusted-types-for'].every((it) => page.faults.some((fault) => fault.startsWith(`policy: ${it}`))));
});

for (const scheme of SCHEMES) {
  test(`hostile texts are texts on every page, in ${scheme} colours`, async (t) => {
    const context = await visit(t, browser, { scheme, size: scheme === 'dark' ? SIZES.narrow : SIZES.wide });
    const asked = [];
    context.on('request', (request) => asked.push(request.url()));
    const page = await enter(context, world);
    page.on('dialog', (dialog) => page.faults.push(`dialog: ${dialog.message()}`));
    let seen = '';
    for (const path of PAGES) {
      await page.goto(`${http}${path}`);
      await until(`${path} shows a text`, async () => (await page.locator('body').innerText()).includes('pwned=1'));
      assert.deepEqual(await foundStrangers(page), { markup: [], ran: undefined }, path);
      seen += await page.locator('body').innerText();
    }
    assert.ok(seen.includes(TEXTS[0]) && seen.includes(TEXTS[1].slice(0, 8)), seen);
    assert.deepEqual(asked.filter((url) => !url.startsWith(`${http}/`) && !url.startsWith('data:,')), []);
    assert.deepEqual(page.faults, []);
  });
}

test('a page that an agent changes while it is open shows text too', async (t) => {
  const page = await enter(await visit(t, browser), world);
  await page.getByText(TEXTS[0]).first().waitFor();
  const text = `<img src=x onerror="globalThis.pwned=1"> is new`;
  await world.brief('W1', text);
  await page.getByText(text).first().waitFor();
  assert.deepEqual(await foundStrangers(page), { markup: [], ran: undefined });
  assert.deepEqual(page.faults, []);
});

test('characters that turn a text around or hide it are made visible', async (t) => {
  const page = await enter(await visit(t, browser), world);
  await page.goto(`${http}/lists/web/tasks/${TEXTS.length + 1}`);
  await page.getByText('gnp.exe').filter({ visible: true }).first().waitFor();
  // A question about a task names it.
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByText('gnp.exe').waitFor();
  const text = await page.evaluate(() => document.documentElement.textContent + document.title);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
});
