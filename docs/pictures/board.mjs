#!/usr/bin/env node
// Makes the pictures of docs/board.md from a real browser that shows a real daemon.
//
//   target/agents/node_modules/.bin/node docs/pictures/board.mjs
//
// Needs what `./check` installs for its tests of the screens. A fleet is made in a temporary home, with a run
// whose agents are a shell script, signed in to, and photographed; the pictures are written beside this file.

import { join } from 'node:path';
import { SIZES, open, signIn, visit } from '../../tests/faces/browser.mjs';
import { until } from '../../tests/faces/patience.mjs';
import { World } from '../../tests/faces/world.mjs';

/** Name, address, size and colours. */
const PICTURES = [
  ['settings', '/lists/web#screen=settings', { width: 960, height: 520 }, 'light'],
  ['board', '/lists/web', SIZES.wide, 'light'],
  ['inbox', '/inbox/W1/1', SIZES.wide, 'dark'],
  ['task', '/lists/web/tasks/7', SIZES.wide, 'light'],
  ['phone', '/inbox/W1/1', SIZES.narrow, 'light'],
  ['graph', '/lists/web#screen=graph', SIZES.wide, 'light'],
  ['run', '/runs/RUN', SIZES.wide, 'light'],
  ['log', '/runs/RUN#list=wire&log=4', SIZES.wide, 'dark'],
  ['phone-board', '/lists/web', SIZES.narrow, 'dark'],
  ['phone-run', '/runs/RUN', SIZES.narrow, 'light'],
];

const PLAN = [
  'Write the lexer', 'Write the parser', 'Seal the token ring', 'Split the lexer', 'Write the docs', 'Draw the cursor',
  'Name the errors', 'Read a theme', 'Keep the history', 'Show the palette', 'Colour the log', 'Fold long lines',
];

/** A run of waves: one of its tasks fails once, one goes on for as long as its directory is there. */
const WAVES = ['Read the ring', 'Write the seal', 'Test the ring (after: 1)', 'Seal the ring (after: 2)', 'Break the seal (after: 4)'];
const AGENT = `
printf 'Task %s, try %s\\n\\033[32mok\\033[0m      the ring is read\\n' "$FLAGPOST_TASK" "$FLAGPOST_ATTEMPT"
sleep "$((FLAGPOST_TASK % 3)).6"
case "$FLAGPOST_TASK-$FLAGPOST_ATTEMPT" in
2-1) printf '\\033[31mfailed\\033[0m  the seal is not closed\\n'; exit 1 ;;
4-*) n=0; while [ -d "$1" ] && [ $n -lt 600 ]; do n=$((n + 1)); echo "The seal, part $n: closed"; sleep 0.1; done ;;
esac
`;

const ends = [];
const moment = { after: (end) => ends.unshift(end) };
try {
  const world = await World.make(moment);
  for (const subject of PLAN) await world.flagpost('add', subject, '--group', subject.includes('lexer') ? 'lexer' : 'face');
  await world.flagpost('task', 'dep', 'add', '8', '7');
  await world.flagpost('edit', '7', '--priority', 'high');
  for (const worker of ['W1', 'W2', 'W3']) await world.flagpost('worker', 'add', worker, '--agent', 'claude');
  for (const [task, worker] of [['1', 'W1'], ['2', 'W2'], ['3', 'W3']]) await world.flagpost('claim', task, '--as', worker);
  await world.flagpost('task', 'start', '2', '--as', 'W2');
  await world.flagpost('done', '1', 'It reads all of the grammar', '--as', 'W1');
  await world.flagpost('stuck', '3', 'Which seal is meant, the old or the new one?', '--as', 'W3');
  await world.flagpost('assign', '1192', 'W1', '--inline', 'Merge the seal of the parser.\n\nKeep the tests as they are.');
  await world.flagpost('assign', '1201', 'W2', '--inline', 'Redirect the docs');
  for (const [task, blocker] of [['4', '1'], ['7', '2'], ['10', '8'], ['11', '10'], ['12', '8']]) {
    await world.flagpost('task', 'dep', 'add', task, blocker);
  }
  await world.feed(WAVES.map((subject) => `- [ ] ${subject}\n`).join(''), 'import', '-', '--from', 'markdown', '--list', 'wire');
  world.write(join(world.user, 'agent'), AGENT);
  await world.up();
  world.start('run', '--list', 'wire', '--agent', `sh ${join(world.user, 'agent')} ${world.user}`, '--retries', '2', '--quiet');
  await until('the seal is being closed', async () => (await world.get('/v1/tasks/wire/4/log')).json.text?.includes('part 9'), 20_000);
  const [{ id }] = (await world.get('/v1/sessions')).json.sessions;
  const browser = await open(moment);
  for (const [name, path, size, scheme] of PICTURES) {
    const context = await visit(moment, browser, { size, scheme });
    const page = await signIn(context, world);
    await page.goto(world.daemon.http + path.replace('RUN', id));
    await page.locator('main').waitFor();
    await page.waitForTimeout(600);
    await page.screenshot({ path: join(import.meta.dirname, `board-${name}.png`) });
  }
} finally {
  for (const end of ends) await end();
}
