// How a browser gets in by a link, and how long it stays in. That a link is too old after two minutes, and
// a session after its time, is tested in crates/daemon/src/http/browsers.rs, where a test can say the time.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { listen } from './asking.mjs';
import { isFirst, open, signIn, visit } from './browser.mjs';
import { elsewhere } from './elsewhere.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const browser = await open({ after });
const world = await World.make({ after });
await world.up();

/** What the page's own script gets with its cookie and its key. */
const status = (page, path = '/v1/daemon') =>
  page.evaluate(async (path) => {
    const key = sessionStorage.getItem('flagpost-key') ?? '';
    return (await fetch(path, { headers: { 'Flagpost-Key': key } })).status;
  }, path);

test('a link signs a browser in, and its key leaves the address at once', async (t) => {
  const context = await visit(t, browser);
  const went = [];
  context.on('request', (request) => went.push(request.url()));
  const link = await world.link();
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForURL(`${world.daemon.http}/`);
  assert.equal(await status(page), 200);
  const key = link.split('#')[1];
  const known = new URL(link);
  assert.ok(went.includes(`${world.daemon.http}/login`), went.join(' '));
  const telling = went.filter((url) => url.includes(key) && url !== known.href);
  assert.deepEqual(telling, []);
  const entries = await page.evaluate(() => performance.getEntries().map((it) => it.name));
  assert.ok(!entries.some((name) => name.includes(key)), 'the key stays in no address');
  assert.equal(await page.evaluate(() => history.length <= 2), true);
  const [cookie] = await context.cookies();
  assert.equal(cookie.name, `flagpost-${world.daemon.port}`);
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, 'Strict', '/']);
  assert.equal(await page.evaluate(() => document.cookie), '');
  assert.deepEqual(page.faults, []);
});

for (const [whose, site] of [['port', 'http'], ['site', 'localhost']]) {
  test(`a link that is clicked on a page of another ${whose} signs in`, async (t) => {
    const link = await world.link();
    const foreign = await elsewhere(t, { '/': `<a href="${link}">the board</a>` });
    const context = await visit(t, browser);
    const page = await context.newPage();
    await page.goto(foreign[site]);
    await page.getByRole('link', { name: 'the board' }).click();
    await page.waitForURL(`${world.daemon.http}/`);
    assert.equal(await status(page), 200);
    assert.deepEqual(page.faults, []);
  });
}

test('a link signs in once', async (t) => {
  const link = await world.link();
  const first = await (await visit(t, browser)).newPage();
  await first.goto(link);
  await first.waitForURL(`${world.daemon.http}/`);
  const second = await (await visit(t, browser)).newPage();
  await second.goto(link);
  await second.getByText('there is no such link').waitFor();
  assert.equal(second.url(), `${world.daemon.http}/login/used`);
  assert.equal(await status(second), 401);
  assert.deepEqual(await second.context().cookies(), []);
  assert.equal(await status(first), 200);
});

test('a link that two browsers follow at once signs one of them in', async (t) => {
  const link = await world.link();
  const pages = [];
  for (let n = 0; n < 3; n += 1) pages.push(await (await visit(t, browser)).newPage());
  await Promise.all(pages.map((page) => page.goto(link)));
  const refused = (page) => page.getByText('there is no such link').isVisible();
  await until('all have an answer', async () => {
    const answers = await Promise.all(pages.map(async (page) => page.url() === `${world.daemon.http}/` || refused(page)));
    return answers.every(Boolean);
  });
  assert.deepEqual((await Promise.all(pages.map((page) => status(page)))).sort(), [200, 401, 401]);
});

test('a program that only looks at a link does not use it up', async (t) => {
  const link = await world.link();
  const { pathname } = new URL(link);
  for (let look = 0; look < 3; look += 1) {
    const told = await world.knock(pathname);
    assert.deepEqual([told.status, told.headers['set-cookie']], [200, undefined]);
  }
  const page = await (await visit(t, browser)).newPage();
  await page.goto(link);
  await page.waitForURL(`${world.daemon.http}/`);
});

test('the seventeenth link that nobody used ends the first', async (t) => {
  const links = [];
  for (let made = 0; made < 17; made += 1) links.push(await world.link());
  const page = await (await visit(t, browser)).newPage();
  await page.goto(links[0]);
  await page.getByText('there is no such link').waitFor();
  for (const link of [links[1], links[16]]) {
    const page = await (await visit(t, browser)).newPage();
    await page.goto(link);
    await page.waitForURL(`${world.daemon.http}/`);
    assert.equal(await status(page), 200);
  }
});

test('a link without its key, or with another, signs nobody in', async (t) => {
  const [link, other] = [await world.link(), await world.link()];
  const page = await (await visit(t, browser)).newPage();
  await page.goto(link.split('#')[0]);
  await page.getByText('This link is not whole').waitFor();
  await page.goto(`${link.split('#')[0]}#${other.split('#')[1]}`);
  await page.getByText('there is no such link').waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  // Neither is used up by that.
  await page.goto(link);
  await page.waitForURL(`${world.daemon.http}/`);
});

test('flagpost board prints a link that signs in', async (t) => {
  const printed = (await world.flagpost('board', '--print')).trim();
  const { schema, url } = JSON.parse(await world.flagpost('board', '--json'));
  assert.equal(schema, 'flagpost.board/1');
  for (const link of [printed, url]) {
    const page = await (await visit(t, browser)).newPage();
    await page.goto(link);
    await page.waitForURL(isFirst);
    assert.equal(await status(page), 200);
  }
});

test('flagpost board --sign-out ends every session, and their pages say how to come back', async (t) => {
  const pages = [await signIn(await visit(t, browser), world), await signIn(await visit(t, browser), world)];
  for (const page of pages) assert.equal(await status(page), 200);
  await world.flagpost('board', '--sign-out');
  for (const page of pages) {
    assert.equal(await status(page), 401);
    await page.getByText('flagpost board').first().waitFor();
    assert.equal((await page.goto(`${world.daemon.http}/`)).status(), 401);
  }
});

test('the seventeenth browser ends the session of the one that was used longest ago', async (t) => {
  await world.flagpost('board', '--sign-out');
  const first = await signIn(await visit(t, browser), world);
  // Not in a page: what a page asked for as it was left may come in late, and is a use of its session.
  const second = await world.session();
  for (let more = 0; more < 14; more += 1) await world.session();
  assert.equal(await status(first), 200);
  await world.session();
  const page = await world.knock('/', { headers: { cookie: `${second.name}=${second.value}` } });
  assert.equal(page.status, 401);
  assert.equal(await status(first), 200);
  assert.equal((await world.get('/v1/browsers')).json.browsers.length, 16);
});

test('a stream ends with its session', async (t) => {
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  const [{ name, value }] = await context.cookies();
  const stream = await listen({
    host: '127.0.0.1',
    port: world.daemon.port,
    path: '/v1/events',
    headers: {
      host: `127.0.0.1:${world.daemon.port}`,
      cookie: `${name}=${value}`,
      'flagpost-key': await page.evaluate(() => sessionStorage.getItem('flagpost-key')),
    },
  });
  t.after(stream.close);
  await until('the stream tells the state', () => stream.text.includes('daemon.resync'));
  await world.flagpost('board', '--sign-out');
  await until('the stream has ended', () => stream.ended);
});

test('a second tab gets the key from the first', async (t) => {
  const context = await visit(t, browser);
  const first = await signIn(context, world);
  const second = await context.newPage();
  await second.goto(`${world.daemon.http}/`);
  const key = (page) => page.evaluate(() => sessionStorage.getItem('flagpost-key'));
  await until('the second tab has the key', async () => (await key(second)) === (await key(first)));
  assert.equal(await status(second), 200);
  assert.deepEqual(second.faults, []);
});

test('a tab whose browser has only the cookie gets no data', async (t) => {
  const context = await visit(t, browser);
  await (await signIn(context, world)).close();
  const alone = await context.newPage();
  await alone.goto(`${world.daemon.http}/`);
  await alone.getByText('flagpost board').waitFor();
  assert.equal(await status(alone), 401);
});

test('a browser that never signed in is refused with a page that names flagpost board', async (t) => {
  await signIn(await visit(t, browser), world);
  const stranger = await (await visit(t, browser)).newPage();
  for (const path of ['/', '/lists/web', '/lists/web/tasks/1', '/inbox/W1/1', '/runs/exec-session-20260513-142500']) {
    const told = await stranger.goto(`${world.daemon.http}${path}`);
    assert.equal(told.status(), 401, path);
    assert.match(await stranger.locator('main').innerText(), /flagpost board/, path);
  }
});

test('a page says that it is cut off when the daemon ends, and with a new daemon its session is over', async (t) => {
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  const { http, token } = world.daemon;
  await page.getByText(/\blive\b/i).first().waitFor();
  await world.flagpost('daemon', 'down');
  await page.getByText(/does not answer|reconnecting/i).first().waitFor();
  await world.up();
  assert.equal(world.daemon.http, http, 'it comes back where it was');
  assert.notEqual(world.daemon.token, token);
  assert.equal(await status(page), 401);
  await page.getByText('flagpost board').first().waitFor();
  // Nothing of before opens anything, and the page comes back with a link.
  assert.equal((await world.knock('/v1/daemon', { headers: { authorization: `Bearer ${token}` } })).status, 401);
  const told = await page.goto(`${http}/`);
  assert.equal(told.status(), 401);
  await page.goto(await world.link());
  await page.waitForURL(`${http}/`);
  assert.equal(await status(page), 200);
});

test('200 connections that show nothing keep nobody out', async (t) => {
  const early = await signIn(await visit(t, browser), world);
  const idle = new Set();
  let isOver = false;
  t.after(() => {
    isOver = true;
    for (const socket of idle) socket.destroy();
  });
  /** Connects and says nothing; when the daemon has waited long enough for one, the next takes its place. */
  const sit = () =>
    new Promise((connected) => {
      const socket = connect(world.daemon.port, '127.0.0.1', connected);
      idle.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        idle.delete(socket);
        if (!isOver) void sit();
      });
    });
  await Promise.all(Array.from({ length: 200 }, sit));
  const late = await signIn(await visit(t, browser), world);
  assert.equal(await status(late), 200);
  assert.equal(await status(early), 200);
  assert.equal(idle.size, 200);
});
