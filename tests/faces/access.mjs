// What axe finds on a page: WCAG 2.2, levels A and AA.

import { readFileSync } from 'node:fs';
import { installed, SCHEMES } from './browser.mjs';

const AXE = readFileSync(installed.resolve('axe-core/axe.min.js'), 'utf8');
const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];

/** Whatever depends on the colours, where nothing else differs from what was looked at. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** The faults of the page as it stands, each with the elements that it is about. */
export async function faults(page, runOnly = { type: 'tag', values: LEVELS }) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const found = await page.evaluate(async (runOnly) => {
    const told = await globalThis.axe.run(document, { runOnly, resultTypes: ['violations'] });
    const about = (it) => `${it.target.join(' ')} ${it.html.slice(0, 160)} ${it.any.map((any) => any.message).join('; ')}`;
    return { passed: told.passes.length + told.incomplete.length, faults: told.violations.map((it) => `${it.id}: ${it.nodes.map(about).join('\n  ')}`) };
  }, runOnly);
  if (found.passed === 0) throw new Error(`axe looked at nothing on ${page.url()}`);
  return found.faults;
}

/** The faults of the page in each colour scheme: between them only the colours differ. */
export async function inAllColours(page, about) {
  const found = [];
  for (const [n, colorScheme] of SCHEMES.entries()) {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction((dark) => getComputedStyle(document.documentElement).colorScheme.includes(dark ? 'dark' : 'light'), colorScheme === 'dark');
    found.push(...(await faults(page, n === 0 ? undefined : COLOURS)).map((it) => `${about} ${colorScheme} ${it}`));
  }
  return found;
}

/** Whether the page is wider than the screen, in words. */
export async function tooWide(page, about) {
  const [inside, outside] = await page.evaluate(() => [document.documentElement.clientWidth, document.documentElement.scrollWidth]);
  return outside > inside ? [`${about} is wider than the screen: ${outside} > ${inside}`] : [];
}
