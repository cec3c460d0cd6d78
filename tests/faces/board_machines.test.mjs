// The fleet of machines on the board: as the daemon's file says, on every screen where something stands in
// the way, and nothing of it where the home is in none.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { enter, open, SIZES, visit } from './browser.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const minutesAgo = (n) => new Date(Date.now() - n * 60_000).toISOString();

/** What a daemon that follows writes down, where all is well but for this. */
function note(world, change = () => {}) {
  const repo = readdirSync(join(world.home, 'repos'))[0];
  const machine = (id, host, since) => ({ machine: id, host, flagpost: '0.1.0', since, lag: since === null ? null : 0, behind_since: null, behind: false, applied: {} });
  const standing = {
    at: new Date().toISOString(),
    since: minutesAgo(90),
    server: { address: 'nats://127.0.0.1:4222', version: '2.15.1', fault: null, syncs: true, replicas: 1, offset_ms: 2 },
    machine: 'aaaaaaaa',
    founder: true,
    may_decide: true,
    repositories: [{ name: 'web', id: repo, here: 1041, there: 1041, frozen: null }],
    machines: [machine('aaaaaaaa', 'box', minutesAgo(90)), machine('bbbbbbbb', '<b>build</b>', minutesAgo(5)), machine('cccccccc', 'laptop', null)],
  };
  change(standing);
  const dir = join(world.home, 'fleet');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, 'machine.json'), '{}');
  writeFileSync(join(dir, '.new'), JSON.stringify(standing));
  renameSync(join(dir, '.new'), join(dir, 'standing.json'));
}

/** A world with a task; the page of its fleet. */
async function fleet(t, context, prepare) {
  const world = await World.make(t);
  await world.flagpost('add', 'Write the parser');
  prepare(world);
  await world.up();
  return { world, page: await enter(context, world, '/#screen=fleet') };
}

test('a home in no fleet shows no machines', async (t) => {
  const { page } = await fleet(t, await visit(t, browser), () => {});
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: /Machines/ }).count(), 0);
  assert.equal(await page.locator('.banner').count(), 0);
  assert.deepEqual(page.faults, []);
});

for (const size of Object.values(SIZES)) {
  test(`machines are shown as they stand, at ${size.width} columns`, async (t) => {
    const { world, page } = await fleet(t, await visit(t, browser, { size }), (it) => note(it));
    const machines = page.getByRole('region', { name: /Machines/ });
    const shows = (text) => machines.filter({ hasText: text }).waitFor();
    const banner = (text) => page.locator('.banner').filter({ hasText: text }).waitFor();
    await shows('2 of 3 follow');
    await shows('<b>build</b>');
    await shows('has all');
    await shows('silent');
    await shows('web: line 1041 here, 1041 in the fleet');
    assert.equal(await page.locator('.banner').count(), 0, 'nothing stands in the way');
    const copies = ['whole', 'partial', 'away'].map((state, n) => ({ server: `10.0.0.${n + 5}:4222`, state }));
    note(world, (it) => Object.assign(it.server, { replicas: 3, copies }));
    await shows('The server at 10.0.0.6:4222 does not have all yet.');
    await shows('The server at 10.0.0.7:4222 is away.');
    assert.equal(await machines.filter({ hasText: '10.0.0.5' }).count(), 0, 'one that has all is nothing to tell');
    note(world, (it) => Object.assign(it.machines[1], { lag: 12, behind_since: minutesAgo(2.5), behind: true }));
    await shows('12 lines behind for 2 m');
    assert.equal(await page.locator('.banner').count(), 0, 'it is another machine');
    note(world, (it) => (it.repositories[0].frozen = 'a newer Flagpost changes it'));
    await banner('web is frozen (a newer Flagpost changes it): nothing of it is changed here any more.');
    note(world, (it) => Object.assign(it, { since: minutesAgo(3.5), server: { ...it.server, version: null, fault: 'it does not answer' } }));
    await banner('This machine is alone for 3 m (it does not answer): what is shared can be read and not changed.');
    await shows('alone for 3 m');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= size.width, `${wide}`);
    note(world);
    await shows('2 of 3 follow');
    await page.locator('.banner').waitFor({ state: 'detached' });
    note(world, (it) => (it.at = minutesAgo(7.5)));
    await banner('is not known for 7 m: no daemon follows it here');
    await shows('not known');
    assert.deepEqual(page.faults, []);
  });
}
