// How long a test waits for anything before it gives up.
//
// Owns the one deadline of all waits, as crates/testkit/src/patience.rs does in Rust, with the same numbers. A
// test has no number of its own, and none asserts how fast something was: that is a benchmark's to say.

import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Patience on a machine that does nothing else, in milliseconds. */
const IDLE = 60_000;
/** What an empty process and a sync take together on such a machine, with much to spare. */
const USUAL = 20;
/** A machine that is slower than this many usual ones tests nothing. */
const SLOWEST = 8;

/** The time for an empty process and a sync. */
function measured() {
  const began = performance.now();
  const { status } = spawnSync('true', { stdio: 'ignore' });
  if (status !== 0) throw new Error("'true' cannot be run");
  const dir = mkdtempSync(join(tmpdir(), 'faces-'));
  const file = openSync(join(dir, 'file'), 'w');
  fsyncSync(file);
  closeSync(file);
  const took = performance.now() - began;
  rmSync(dir, { recursive: true });
  return took;
}

/** How much slower than an idle one the machine was when this process began: by that time, or by how many
 * processes want each core. */
const slowness = Math.max(measured() / USUAL, loadavg()[0] / availableParallelism());

/** A minute, times that. */
export const PATIENCE = Math.round(IDLE * Math.min(SLOWEST, Math.max(1, slowness)));

/** How long it rests between two looks. */
const PAUSE = 20;

/** Waits until something holds; what it answered, if that is not nothing. */
export async function until(what, holds) {
  const deadline = Date.now() + PATIENCE;
  let fault;
  for (;;) {
    try {
      const held = await holds();
      if (held) return held;
      fault = undefined;
    } catch (error) {
      fault = error;
    }
    if (Date.now() > deadline) throw new Error(`never: ${what}`, { cause: fault });
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}
