// Runs the tests of the screens, and once more the files of them that failed, and no others.
//
//   target/agents/node_modules/.bin/node tests/faces/run.mjs [FILE…]
//
// A browser beside other work may be in a test's way, and what is broken is broken twice: the exit code is that of
// the last run. Without names it runs every file beside this one.

import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { run } from 'node:test';
import { spec as Spec } from 'node:test/reporters';
import { PATIENCE } from './patience.mjs';

/** So many files at once. Much of the time a test waits for its browser and its daemon. */
const AT_ONCE = 3;
/** A file whose tests come to no end at all is ended. */
const LONGEST = 30 * PATIENCE;

const here = import.meta.dirname;
const named = process.argv.slice(2);
const all = named.length > 0 ? named : readdirSync(here).filter((it) => it.endsWith('.test.mjs')).map((it) => relative('', join(here, it)));

/** Runs these files; which of them failed, and what was counted. */
async function tried(files) {
  const failed = new Set();
  let sum;
  const events = run({ files, concurrency: AT_ONCE, timeout: LONGEST });
  events.on('test:fail', ({ file, todo }) => todo === undefined && failed.add(relative('', file)));
  events.on('test:summary', (of) => {
    if (of.file === undefined) sum = of;
  });
  for await (const text of events.compose(new Spec())) process.stdout.write(text);
  const known = files.filter((it) => failed.has(relative('', it)));
  // A failure that belongs to no file may be any one's.
  return { failed: sum.success || known.length > 0 ? known : files, counts: sum.counts };
}

const count = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
const first = await tried(all);
const again = first.failed.length === 0 ? null : first.failed;
if (again !== null) console.log(`\n${count(again.length, 'file')} of ${all.length} failed, and ${again.length === 1 ? 'is' : 'are'} run once more: ${again.map((it) => basename(it)).join(' ')}\n`);
const last = again === null ? first : await tried(again);
if (last.failed.length > 0) process.exitCode = 1;
console.log(
  `ℹ files ${all.length}, tests ${first.counts.tests}, pass ${first.counts.passed}, fail ${first.counts.failed}` +
    (again === null ? '' : `; once more: files ${again.length}, tests ${last.counts.tests}, pass ${last.counts.passed}, fail ${last.counts.failed}`),
);
