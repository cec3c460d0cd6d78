// What axe finds on a page: WCAG 2.2, levels A and AA.

import { readFileSync } from 'node:fs';
import { installed } from './browser.mjs';

const AXE = readFileSync(installed.resolve('axe-core/axe.min.js'), 'utf8');
const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];

/** The faults of the page as it stands, each with the elements that it is about. */
export async function faults(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async (levels) => {
    const told = await globalThis.axe.run(document, { runOnly: { type: 'tag', values: levels } });
    const about = (it) => `${it.target.join(' ')} ${it.html.slice(0, 160)} ${it.any.map((any) => any.message).join('; ')}`;
    return { passed: told.passes.length, faults: told.violations.map((it) => `${it.id}: ${it.nodes.map(about).join('\n  ')}`) };
  }, LEVELS);
  if (found.passed === 0) throw new Error(`axe looked at nothing on ${page.url()}`);
  return found.faults;
}
