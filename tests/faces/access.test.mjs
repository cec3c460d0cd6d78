// The pages for everybody: in each size and colour scheme, WCAG 2.2 AA without a fault.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { faults } from './access.mjs';
import { open, SCHEMES, SIZES, visit } from './browser.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.flagpost('worker', 'add', 'W1');
await world.flagpost('add', 'Write the parser', '--priority', 'high');
await world.flagpost('add', 'Test the parser', '--after', '1');
await world.brief('W1', 'Merge the seal of the parser\n\nAll of it.\n');
const { http } = await world.up();

test('axe sees a fault where there is one', async (t) => {
  const page = await (await visit(t, browser)).newPage();
  await page.goto(`${http}/login/x`);
  await page.evaluate(() => document.documentElement.removeAttribute('lang'));
  const [fault] = await faults(page);
  assert.match(fault, /^html-has-lang: /);
});

for (const scheme of SCHEMES) {
  for (const [name, size] of Object.entries(SIZES)) {
    test(`the pages of the sign-in have no fault, ${name} and ${scheme}`, async (t) => {
      const context = await visit(t, browser, { scheme, size });
      const page = await context.newPage();
      for (const path of ['/', '/login/x', '/login/x#y']) {
        await page.goto(`${http}${path}`);
        await page.waitForLoadState('networkidle');
        assert.deepEqual(await faults(page), [], path);
      }
    });
  }
}
