// A run on the board: when its tasks ran, what it wrote, what its agents print; and a task's page with its
// history. The agent is a shell script, which prints what the test gives it and ends when it says so.

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inAllColours, tooWide } from './access.mjs';
import { drawn, enter, hold, open, overhear, settled, SIZES, visit } from './browser.mjs';
import { foundStrangers, TEXTS, TURNED } from './hostile.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const ESC = '\u001b';

/** Prints the files that appear for its task, in order, until there is one that ends it; never without its world and its run. */
const AGENT = `
n=1
while [ -d "$1" ] && kill -0 $PPID; do
  if [ -e "$1/$FLAGPOST_TASK-$FLAGPOST_ATTEMPT/$n" ]; then cat "$1/$FLAGPOST_TASK-$FLAGPOST_ATTEMPT/$n"; n=$((n + 1)); continue; fi
  [ -e "$1/$FLAGPOST_TASK-$FLAGPOST_ATTEMPT/passes" ] && exit 0
  [ -e "$1/$FLAGPOST_TASK-$FLAGPOST_ATTEMPT/fails" ] && exit 1
  sleep 0.05
done
exit 1
`;

/** A world with these tasks; `say` lets the agent of one print, `end` ends it. */
async function worldOf(t, subjects) {
  const world = await World.make(t);
  const said = new Map();
  const file = (task, attempt, name) => join(world.user, 'says', `${task}-${attempt}`, name);
  world.write(join(world.user, 'agent.sh'), AGENT);
  await world.feed(subjects.map((subject) => `- [ ] ${subject}\n`).join(''), 'import', '-', '--from', 'markdown');
  await world.up();
  const say = (task, text, attempt = 1) => {
    const n = (said.get(`${task}-${attempt}`) ?? 0) + 1;
    said.set(`${task}-${attempt}`, n);
    // It appears with all of its text: the agent prints what it finds.
    world.write(file(task, attempt, `new ${n}`), text);
    renameSync(file(task, attempt, `new ${n}`), file(task, attempt, String(n)));
  };
  const end = (task, how = 'passes', attempt = 1) => world.write(file(task, attempt, how), '');
  const run = () => world.start('run', '--agent', `sh ${join(world.user, 'agent.sh')} ${join(world.user, 'says')}`, '--retries', '2', '--schedule', 'waves', '--quiet');
  const session = () => until('there is a run', async () => (await world.get('/v1/sessions')).json.sessions[0]);
  return { world, say, end, run, session };
}

/** Waits until the agent of the first task has printed this. */
const printed = (world, text) => until(`it has printed ${text}`, async () => (await world.get('/v1/tasks/web/1/log')).json.text?.includes(text));

/** A run that works on one task, and its log in a page. */
async function following(t, size = SIZES.wide) {
  const { world, say, end, run, session } = await worldOf(t, ['Write the parser']);
  say(1, 'It begins.\n');
  const ended = run();
  const { id } = await session();
  await printed(world, 'It begins.');
  const context = await visit(t, browser, { size });
  await context.clock.install();
  const page = await enter(context, world, `/runs/${id}`);
  const asked = [];
  // Those of the log, and those that have no answer yet, but for the stream.
  const under_way = new Set();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith('/log')) asked.push(request);
    if (pathname !== '/v1/events') under_way.add(request);
  });
  for (const ended of ['requestfinished', 'requestfailed']) page.on(ended, (request) => under_way.delete(request));
  const isQuiet = () => until('all that the page asked for has come', () => under_way.size === 0);
  await page.getByRole('link', { name: 'log of #1' }).first().click();
  await log(page).getByText('It begins.').waitFor();
  return { world, page, asked, isQuiet, say, end, ended, id };
}

/** Tells the page that its task has moved, and lets all the time pass in which it may ask for something. */
async function moveOn(world, page) {
  const hears = await overhear(page);
  await hold(page);
  await world.flagpost('note', '1', 'The run has moved.');
  await hears('task.updated', 'The run has moved.');
  await page.clock.runFor(10_000);
  await settled(page);
  await page.clock.resume();
}

const log = (page) => page.getByRole('region', { name: 'What the agent printed' });
const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}, which says something\n`).join('');
const follow = (page) => page.getByRole('checkbox', { name: 'Follow' });
/** Waits for the last line, which is found at once among thousands. */
const ends = (page, text) => until(`it ends with ${text}`, () => log(page).evaluate((it, text) => it.lastElementChild.textContent.startsWith(text), text));
/** How far the log is from its end. */
const below = (page) => log(page).evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);

// A run with all that there is: two tries, a wave after it, output that deceives.
const done = await worldOf({ after }, ['Write the parser', 'Print what deceives', 'Test the parser (after: 1)']);
done.say(1, 'The first try.\n');
done.end(1, 'fails');
done.say(1, 'The second try.\n', 2);
done.end(1, 'passes', 2);
done.say(2, `The long line: ${'long '.repeat(210_000)}\n`);
done.say(2, `${TEXTS.join('\n')}\n${TURNED}\n`);
done.say(2, `${ESC}[31mred${ESC}[0m ${ESC}[1;32mgreen${ESC}[0m ${ESC}[2J${ESC}]0;a title\u0007${ESC}[3Aplain ${ESC}]open\n`);
done.end(2);
done.end(3);
await done.run();
const run = await done.session();
const address = `/runs/${run.id}`;

test('the timeline has a bar for each attempt, a word for each task and a row of signs for each wave', async (t) => {
  const page = await enter(await visit(t, browser), done.world, address);
  const row = (id) => page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').filter({ hasText: `#${id} ` });
  await row(1).getByText('passed').waitFor();
  assert.deepEqual(await row(1).getByRole('img').evaluateAll((all) => all.map((it) => it.ariaLabel.replace(/, \d+ s$/, ''))), ['Try 1: failed', 'Try 2: passed']);
  assert.equal(await row(2).getByRole('img').count(), 1);
  const boxes = await Promise.all([row(1).getByRole('img').first(), row(1).getByRole('img').last(), row(3).getByRole('img')].map((it) => it.boundingBox()));
  assert.ok(boxes[0].x < boxes[1].x && boxes[1].x < boxes[2].x, JSON.stringify(boxes));
  const waves = await page.locator('ul.waves li').evaluateAll((all) => all.map((it) => it.textContent));
  assert.deepEqual(waves, ['Wave 1 ✓✓', 'Wave 2 ✓']);
  await row(1).getByRole('link', { name: 'log of #1' }).click();
  await log(page).getByText('The second try.').waitFor();
  assert.deepEqual(page.faults, []);
});

test('what a run wrote is in tabs, with its tables', async (t) => {
  const page = await enter(await visit(t, browser), done.world, address);
  const tabs = page.getByRole('navigation', { name: 'Parts of the run' });
  await tabs.getByRole('link', { name: 'Plan' }).click();
  await page.getByRole('heading', { name: 'Wave 1' }).waitFor();
  await page.getByText('1. [1] Write the parser').waitFor();
  await tabs.getByRole('link', { name: 'Log', exact: true }).click();
  await page.getByRole('cell', { name: 'passed' }).first().waitFor();
  await page.reload();
  await page.getByRole('columnheader', { name: 'Duration' }).waitFor();
  assert.equal(await tabs.getByRole('link', { name: 'Log', exact: true }).getAttribute('aria-current'), 'page');
});

test('output that deceives is text, and its colours are the page\'s', async (t) => {
  const page = await enter(await visit(t, browser), done.world, '/lists/web/tasks/2');
  await page.getByRole('link', { name: 'Log of its agent' }).waitFor();
  await page.keyboard.press('L');
  await log(page).getByText('plain').waitFor();
  await log(page).getByRole('button', { name: 'Earlier lines' }).waitFor();
  assert.deepEqual(await foundStrangers(page), { markup: [], ran: undefined });
  const text = await log(page).innerText();
  assert.match(text, /red green plain ‹U\+001B›\]open/);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
  assert.equal(await log(page).locator('.c1').innerText(), 'red');
  assert.deepEqual(page.faults, []);
});

test('the attempts of a task are chosen, and the address names the one', async (t) => {
  const page = await enter(await visit(t, browser), done.world, `${address}#list=web&log=1&attempt=1`);
  await log(page).getByText('The first try.').waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('TRY');
  await page.getByRole('checkbox', { name: 'Wrap' }).uncheck();
  await page.getByRole('button', { name: 'Attempt 2' }).click();
  await log(page).getByText('The second try.').waitFor();
  assert.match(page.url(), /attempt=2/);
  assert.equal(await page.getByRole('searchbox', { name: 'Filter' }).inputValue(), 'TRY');
  assert.equal(await page.getByRole('checkbox', { name: 'Wrap' }).isChecked(), false);
  await page.getByLabel('Attempt').selectOption('1');
  await log(page).getByText('The first try.').waitFor();
});

test('a log is followed as it grows, until it ends, and nothing is asked after that', async (t) => {
  const { world, page, asked, say, end, ended } = await following(t);
  await page.getByText('◐ following').waitFor();
  say(1, 'It goes on ');
  say(1, 'in the same line.\n');
  await log(page).getByText('It goes on in the same line.').waitFor();
  say(1, `${'long '.repeat(210_000)}\n`);
  await log(page).getByText('long … 1,040,000 more characters').waitFor();
  say(1, lines(1, 6000));
  await ends(page, 'line 6000, which');
  await until('the end is in sight', async () => (await below(page)) < 3);
  assert.ok((await log(page).locator('> div').count()) <= 5000);
  end(1);
  await ended;
  await page.getByText('── the end').waitFor();
  const n = asked.length;
  await moveOn(world, page);
  assert.equal(asked.length, n);
  assert.deepEqual(page.faults, []);
});

test('following stops at the first scroll up, and neither filter nor wrap resets that', async (t) => {
  const { world, page, asked, isQuiet, say } = await following(t);
  say(1, lines(1, 300));
  await log(page).getByText('line 300, which').waitFor();
  await page.getByRole('checkbox', { name: 'Wrap' }).uncheck();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('line 2');
  await page.getByText('111 of 301 lines').waitFor();
  assert.equal(await follow(page).isChecked(), true);
  await until('the end is in sight', async () => (await below(page)) < 3);
  await log(page).hover();
  await page.mouse.wheel(0, -400);
  await until('it does not follow', async () => !(await follow(page).isChecked()));
  await isQuiet();
  const n = asked.length;
  say(1, lines(301, 310));
  await printed(world, 'line 310, which');
  await moveOn(world, page);
  assert.equal(asked.length, n);
  assert.ok((await below(page)) > 100);
  assert.equal(await page.getByRole('searchbox', { name: 'Filter' }).inputValue(), 'line 2');
  await page.getByRole('searchbox', { name: 'Filter' }).fill('');
  await page.getByRole('checkbox', { name: 'Wrap' }).check();
  assert.equal(await follow(page).isChecked(), false);
  await page.getByRole('button', { name: 'To the end' }).click();
  await log(page).getByText('line 310, which').waitFor();
  await until('the end is in sight', async () => (await below(page)) < 3);
  assert.equal(await follow(page).isChecked(), true);
});

test('earlier lines are read in parts, in their order and in place, and to the end is the end again', async (t) => {
  const { page, say } = await following(t);
  say(1, lines(1, 8000));
  await ends(page, 'line 8000, which');
  const top = () => log(page).evaluate((it) => it.querySelector(':scope > div').textContent);
  const first = Number(/line (\d+)/.exec(await top())[1]);
  assert.ok(first > 2500, `from line ${first}`);
  await log(page).evaluate((it) => it.scrollTo(0, 0));
  await until('it does not follow', async () => !(await follow(page).isChecked()));
  const place = () => log(page).getByText(`line ${first}, which`).evaluate((it) => Math.round(it.getBoundingClientRect().top));
  const was = await place();
  await page.getByRole('button', { name: 'Earlier lines' }).click();
  await until('there are earlier ones', async () => (await top()) !== `line ${first}, which says something\n`);
  assert.ok(Math.abs((await place()) - was) < 3, `${await place()} instead of ${was}`);
  const more = page.getByRole('button', { name: 'Earlier lines' });
  while ((await more.count()) > 0) {
    const before = await top();
    await page.keyboard.press('b');
    await until('there are earlier ones', async () => (await top()) !== before);
  }
  const all = await log(page).evaluate((it) => [...it.querySelectorAll(':scope > div')].map((line) => line.textContent.trim()));
  assert.equal(all[0], 'It begins.');
  assert.ok(all.length <= 5000 && all.slice(1).every((it, n) => it === `line ${n + 1}, which says something`), `${all.length} lines`);
  await page.getByRole('button', { name: 'To the end' }).click();
  await ends(page, 'line 8000, which');
  await until('the end is in sight', async () => (await below(page)) < 3);
  assert.deepEqual(page.faults, []);
});

test('a log that is closed or not seen asks for nothing, and a bar that runs grows without a request', async (t) => {
  const { world, page, asked, isQuiet, say } = await following(t);
  await until('it waits for more', () => asked.some((it) => it.url().includes('wait=')));
  const hide = (isHidden) => page.evaluate((now) => {
    Object.defineProperty(document, 'hidden', { value: now, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
  await hide(true);
  await drawn(page);
  await isQuiet();
  const n = asked.length;
  say(1, 'Nobody sees it.\n');
  await printed(world, 'Nobody sees it.');
  await moveOn(world, page);
  assert.equal(asked.length, n);
  await hide(false);
  await log(page).getByText('Nobody sees it.').waitFor();
  await until('it waits again', () => asked.length > n + 1);
  await page.getByRole('link', { name: '‹' }).click();
  const bar = page.getByRole('region', { name: 'Timeline' }).getByRole('img', { name: 'Try 1: running' });
  await bar.waitFor();
  // What the screen asks for at its beginning has come, and so has the end of the log's request.
  await hold(page);
  await page.clock.runFor(1000);
  await isQuiet();
  const told = [];
  page.on('request', (request) => told.push(request.url()));
  const was = await bar.getAttribute('aria-label');
  await page.clock.runFor(3000);
  await until('it has grown', async () => (await bar.getAttribute('aria-label')) !== was);
  await settled(page);
  assert.deepEqual(told.filter((it) => it.includes('/v1/')), []);
  assert.deepEqual(page.faults, []);
});

// Tasks without a run.
const plan = await World.make({ after });
const subjects = ['Write the parser', 'Test the parser (after: 1)', 'Write the docs', 'Write the lexer', 'Test the lexer (after: 4)', 'Drop it', 'Print it', 'Ask for the API'];
await plan.feed(subjects.map((subject) => `- [ ] ${subject}\n`).join(''), 'import', '-', '--from', 'markdown');
await plan.flagpost('worker', 'add', 'W1');
await plan.up();

/** The page of one of them. */
async function taskPage(t, id) {
  const page = await enter(await visit(t, browser), plan, `/lists/web/tasks/${id}`);
  await page.getByRole('heading', { name: 'History' }).waitFor();
  return { world: plan, page };
}

test('a note that is written on the board is in flagpost show, and the history follows', async (t) => {
  const { world, page } = await taskPage(t, '2');
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByLabel('Note').fill('The grammar\nis in docs/.');
  await page.getByRole('dialog').getByRole('button', { name: 'Leave the note' }).click();
  await page.getByText('is in docs/.').waitFor();
  assert.match(await world.flagpost('show', '2'), /The grammar\nis in docs\//);
  await page.getByText('left a note').waitFor();
  await world.flagpost('edit', '2', '--subject', 'Test all of it');
  await page.locator('.changed').filter({ hasText: 'Test the parser → Test all of it' }).waitFor();
  await world.flagpost('done', '1', '-y');
  await world.flagpost('claim', '2', '--as', 'W1');
  await page.getByText('pending → claimed').waitFor();
  assert.deepEqual(page.faults, []);
});

test('a task waits for others and not any more, and a circle is refused in words', async (t) => {
  const { world, page } = await taskPage(t, '4');
  const waits = async (given) => {
    await page.keyboard.press('w');
    await page.getByRole('dialog').getByLabel(/Waits for/).fill(given);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  };
  await waits('#3');
  await page.getByRole('heading', { name: 'Waits for' }).waitFor();
  await page.getByText('made it wait for #3').waitFor();
  await waits('3, 5');
  await page.locator('.toast.error').filter({ hasText: 'cycle: 4 → 5 → 4' }).waitFor();
  await waits('');
  await until('it waits for nothing', async () => (await world.get('/v1/tasks/web/4')).json.blocked_by.length === 0);
  await page.getByText('it waits for #3 no more').waitFor();
  await page.keyboard.press('u');
  await page.getByRole('heading', { name: 'Waits for' }).waitFor();
});

test('a task is removed once that is confirmed, and comes back with u', async (t) => {
  const { world, page } = await taskPage(t, '6');
  await page.keyboard.press('D');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await world.get('/v1/tasks/web/6')).status, 200);
  await page.keyboard.press('D');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the task' }).click();
  await page.waitForURL((url) => !url.pathname.includes('/tasks/'));
  assert.equal((await world.get('/v1/tasks/web/6')).status, 404);
  await page.keyboard.press('u');
  await until('it is there again', async () => (await world.get('/v1/tasks/web/6')).status === 200);
});

test('a subject and a description are edited in place', async (t) => {
  const { world, page } = await taskPage(t, '7');
  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByLabel('Subject').fill('Write all docs');
  await page.getByLabel('Description').fill('Each command\nhas an example.');
  await page.keyboard.press('Control+Enter');
  await page.locator('#subject').filter({ hasText: 'Write all docs' }).waitFor();
  const { subject, description } = (await world.get('/v1/tasks/web/7')).json;
  assert.deepEqual({ subject, description }, { subject: 'Write all docs', description: 'Each command\nhas an example.' });
  await page.keyboard.press('e');
  await page.getByLabel('Subject').fill('Not this');
  await page.keyboard.press('Escape');
  await page.getByRole('form', { name: 'Edit the task' }).waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Write all docs' }).waitFor();
});

test('a question and its answer are shown as such, and older lines come on demand', async (t) => {
  const { world, page } = await taskPage(t, '8');
  await world.post('/v1/tasks/web/8/claim?as=W1');
  await world.post('/v1/tasks/web/8/stuck?as=W1', { text: 'Which API?' });
  await world.post('/v1/tasks/web/8/answer', { text: 'The second.' });
  // A history that is longer than what is asked for at first.
  await page.route(/history\?limit=50/, (route) => route.continue({ url: route.request().url().replace('limit=50', 'limit=2') }));
  await world.post('/v1/tasks/web/8/note', { text: 'Thanks.' });
  const talk = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Questions and answers' }) });
  await talk.getByText('W1 asked').waitFor();
  await talk.getByText('Which API?').waitFor();
  await talk.getByText('The second.').waitFor();
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('listitem').filter({ hasText: 'added by' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Older' }).count(), 0);
});

for (const [name, size] of Object.entries(SIZES)) {
  test(`the run, its documents, its logs and a task that ran have no fault, ${name}, in each colour scheme`, async (t) => {
    const page = await enter(await visit(t, browser, { size, reducedMotion: 'reduce' }), done.world);
    const found = [];
    for (const path of [address, `${address}#document=Log`, `${address}#document=Plan`, `${address}#list=web&log=2`, `${address}#list=web&log=1&attempt=1`, '/lists/web/tasks/1']) {
      await page.goto('about:blank');
      await page.goto(`${done.world.daemon.http}${path}`);
      await page.locator('main:not([aria-busy="true"]) h1, article h1').first().waitFor();
      await page.getByText('● live').waitFor();
      await page.locator('.timeline, .prose, .log div, #subject').first().waitFor();
      found.push(...(await inAllColours(page, path)), ...(await tooWide(page, path)));
    }
    assert.deepEqual([...found, ...page.faults], []);
  });
}
