// What servers on other ports of 127.0.0.1, other sites and other names get: nothing. A browser sends them
// the cookie, and lets them overwrite it.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listen } from './asking.mjs';
import { open, signIn, visit } from './browser.mjs';
import { elsewhere } from './elsewhere.mjs';
import { until } from './patience.mjs';
import { World } from './world.mjs';

const SECRET = 'Merge the seal of the parser';
const browser = await open({ after }, ['--host-resolver-rules=MAP flagpost.example 127.0.0.1']);
const world = await World.make({ after });
await world.flagpost('worker', 'add', 'W1');
await world.flagpost('add', SECRET);
await world.brief('W1', SECRET);
const { http, port, token } = await world.up();
const COOKIE = `flagpost-${port}`;

/** Everything that has data, or does something. */
const DATA = ['/v1/daemon', '/v1/tasks', '/v1/relay/inbox', '/v1/events', '/v1/relay/inbox/events', '/v1/history',
  '/v1/operations', '/v1/openapi.json', '/api/health', '/api/task-lists', '/api/tasks/web', '/api/events', '/nothing'];
const WRITES = ['/v1/links', '/v1/tasks', '/v1/relay/outbox/ratify', '/v1/controller/dispatch', '/v1/stop'];

/** What a page's own script gets: with its key, unless other headers are given. */
const status = (page, path = '/v1/daemon', headers = null, credentials = 'same-origin') =>
  page.evaluate(
    async ([path, headers, credentials]) => {
      const own = { 'Flagpost-Key': sessionStorage.getItem('flagpost-key') };
      return (await fetch(path, { headers: headers ?? own, credentials })).status;
    },
    [path, headers, credentials],
  );
const key = (page) => page.evaluate(() => sessionStorage.getItem('flagpost-key'));
const cookie = async (context) => (await context.cookies(http)).find((it) => it.name === COOKIE)?.value;

test('a server on another port gets the cookie, and it opens nothing', async (t) => {
  const foreign = await elsewhere(t, { '/': 'hello' });
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  await page.goto(foreign.http);
  const got = foreign.heard.find((it) => it.path === '/').headers;
  assert.equal(got.cookie, `${COOKIE}=${await cookie(context)}`, 'the trap is there');
  assert.equal(got['flagpost-key'], undefined);
  assert.equal(got.referer, undefined);
  for (const path of DATA) {
    const told = await world.knock(path, { headers: { cookie: got.cookie } });
    assert.equal(told.status, 401, path);
    assert.ok(!told.text.includes(SECRET), path);
  }
  for (const path of WRITES) {
    const told = await world.knock(path, { method: 'POST', headers: { cookie: got.cookie }, body: {} });
    assert.equal(told.status, 401, path);
  }
  // The page itself it opens, which has no data.
  const page_of_it = await world.knock('/', { headers: { cookie: got.cookie } });
  assert.equal(page_of_it.status, 200);
  assert.ok(!page_of_it.text.includes(SECRET));
});

test('the cookie without the key, and the key without the cookie, open nothing', async (t) => {
  const page = await signIn(await visit(t, browser), world);
  const shown = { 'Flagpost-Key': await key(page) };
  for (const path of DATA.filter((path) => path !== '/nothing')) {
    assert.equal(await status(page, path, {}), 401, `${path} with the cookie`);
    assert.equal(await status(page, path, shown, 'omit'), 401, `${path} with the key`);
  }
  assert.equal(await status(page, '/v1/daemon', shown), 200);
});

test('the key of another session opens nothing', async (t) => {
  const [context, other] = [await visit(t, browser), await visit(t, browser)];
  const [page, stranger] = [await signIn(context, world), await signIn(other, world)];
  const of_stranger = await key(stranger);
  assert.notEqual(of_stranger, await key(page));
  assert.equal(await status(page, '/v1/daemon', { 'Flagpost-Key': of_stranger }), 401);
  assert.equal(await status(page, '/v1/daemon', { 'Flagpost-Key': token }), 401);
  assert.equal(await status(page, '/v1/daemon', { 'Flagpost-Key': await cookie(context) }), 401);
  assert.equal(await status(page), 200);
});

test('a cookie that was overwritten from another port opens nothing', async (t) => {
  const [context, other] = [await visit(t, browser), await visit(t, browser)];
  const page = await signIn(context, world);
  await signIn(other, world);
  for (const value of ['x', await cookie(other), '']) {
    const set = { 'set-cookie': `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict` };
    const foreign = await elsewhere(t, { '/': [set, 'hello'] });
    const beside = await context.newPage();
    await beside.goto(foreign.http);
    assert.equal(await cookie(context), value, 'it was overwritten');
    assert.equal(await status(page), 401, JSON.stringify(value));
  }
});

test('a cookie that another port puts beside ours shuts nobody out', async (t) => {
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  const foreign = await elsewhere(t, { '/v1/x': [{ 'set-cookie': `${COOKIE}=x; Path=/v1` }, 'hello'] });
  const beside = await context.newPage();
  await beside.goto(`${foreign.http}/v1/x`);
  assert.equal((await context.cookies(`${http}/v1/daemon`)).length, 2, 'both are sent');
  assert.equal(await status(page), 200);
});

test('a page of another port is not lent the key', async (t) => {
  const context = await visit(t, browser);
  const own = await signIn(context, world);
  const asks = () => {
    globalThis.heard = [];
    const channel = new BroadcastChannel('flagpost-key');
    channel.onmessage = ({ data }) => globalThis.heard.push(data);
    channel.postMessage('who has it?');
  };
  const heard = (page) => page.evaluate(() => globalThis.heard);
  const foreign = await elsewhere(t, { '/': 'hello' });
  const page = await context.newPage();
  await page.goto(foreign.http);
  await page.evaluate(asks);
  const second = await context.newPage();
  await second.goto(`${http}/login/x`);
  await second.evaluate(asks);
  // Who asked later has an answer.
  await until('our own is lent it', async () => (await heard(second)).length > 0);
  assert.deepEqual(await heard(second), [{ key: await key(own) }]);
  assert.deepEqual(await heard(page), []);
});

test('whoever opens our page in a window has no hold on it', async (t) => {
  const foreign = await elsewhere(t, { '/': '<title>elsewhere</title>' });
  const context = await visit(t, browser);
  const page = await context.newPage();
  await page.goto(foreign.http);
  const opened = context.waitForEvent('page');
  await page.evaluate((link) => {
    globalThis.ours = open(link);
  }, await world.link());
  const ours = await opened;
  await ours.waitForURL(`${http}/`);
  await until('it is cut loose', () => page.evaluate(() => globalThis.ours.closed));
  assert.equal(await ours.evaluate(() => opener), null);
});

test('the token is in no response, cookie, address or storage', async (t) => {
  const context = await visit(t, browser);
  const heard = [];
  context.on('response', (response) => {
    // The stream that the page holds open has no text yet; one of our own is read below.
    const text = response.headers()['content-type']?.startsWith('text/event-stream') ? '' : response.text().catch(() => '');
    const told = Promise.all([response.allHeaders(), response.request().allHeaders(), text]);
    heard.push(told.then((parts) => JSON.stringify([response.url(), ...parts])));
  });
  const page = await signIn(context, world);
  await page.evaluate(async (paths) => {
    const headers = { 'Flagpost-Key': sessionStorage.getItem('flagpost-key') };
    for (const path of paths) await (await fetch(path, { headers })).text();
  }, DATA.filter((path) => !path.endsWith('/events')));
  const stream = await listen({
    host: '127.0.0.1', port, path: '/v1/events',
    headers: { host: `127.0.0.1:${port}`, cookie: `${COOKIE}=${await cookie(context)}`, 'flagpost-key': await key(page) },
  });
  t.after(stream.close);
  await until('the stream tells the state', () => stream.text.includes('daemon.resync'));
  const texts = (await Promise.all(heard)).join('\n');
  const kept = JSON.stringify([await context.cookies(), await context.storageState(), page.url(),
    await page.evaluate(() => [{ ...sessionStorage }, { ...localStorage }, document.documentElement.outerHTML])]);
  const all = texts + stream.text + kept;
  assert.ok(all.includes(SECRET) && all.includes(await key(page)) && all.includes('/login.js'), 'it looked');
  assert.equal(token.length > 30 && all.includes(token), false);
});

test('the token is in no file of the pages, and in nothing that the program prints', async (t) => {
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  const files = await page.evaluate(async () => {
    const seen = new Map();
    const read = async (url) => {
      if (seen.has(url)) return;
      seen.set(url, '');
      const text = await (await fetch(url)).text();
      seen.set(url, text);
      const more = [...text.matchAll(/(?:from |import |src=|href=)["']?(\.?\/[\w./-]+\.(?:js|css))/g)];
      await Promise.all(more.map((it) => read(new URL(it[1], url).href)));
    };
    for (const path of ['/', '/login/x']) await read(new URL(path, location.origin).href);
    return [...seen];
  });
  assert.ok(files.length > 30 && files.every(([, text]) => text.length > 0), files.map(([url, text]) => `${url} ${text.length}`).join('\n'));
  const printed = [];
  for (const args of [['board', '--print'], ['board', '--json'], ['status'], ['daemon', 'logs'], ['history', '--json']]) {
    printed.push(await world.flagpost(...args).catch((fault) => `${fault.stdout} ${fault.stderr}`));
  }
  const all = JSON.stringify([files, printed]);
  assert.equal(all.includes(token), false);
  // Nor are the halves of a session where they do not belong.
  for (const half of [await key(page), await cookie(context)]) assert.equal(all.includes(half), false);
});

test('only a link may be followed from another site, and nothing else asked for', async () => {
  const from = (mode, dest) => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest });
  assert.equal((await world.knock('/login/x', { headers: from('navigate', 'document') })).status, 200);
  for (const path of ['/', '/lists/web', '/inbox/W1/1', '/app/x/main.js', ...DATA]) {
    for (const headers of [from('navigate', 'document'), from('no-cors', 'image'), from('cors', 'empty')]) {
      const told = await world.knock(path, { headers: { ...headers, authorization: `Bearer ${token}` } });
      assert.equal(told.status, 403, `${path} ${JSON.stringify(headers)}`);
    }
  }
  const told = await world.knock('/login', { method: 'POST', headers: { ...from('cors', 'empty'), 'flagpost-key': 'x' }, body: { code: 'x' } });
  assert.equal(told.status, 403);
});

test('a name that leads here is not enough', async (t) => {
  const context = await visit(t, browser);
  const page = await signIn(context, world);
  for (const name of ['localhost', 'flagpost.example']) {
    for (const path of ['/', '/login/x', '/v1/daemon']) {
      const told = await page.goto(`http://${name}:${port}${path}`);
      assert.equal(told.status(), 421, `${name} ${path}`);
    }
    const told = await world.knock('/v1/daemon', {
      headers: { host: `${name}:${port}`, authorization: `Bearer ${token}` },
    });
    assert.equal(told.status, 421, name);
  }
});

test('a page of another origin reads nothing and does nothing', async (t) => {
  const body = JSON.stringify({ scope: 'all' });
  const foreign = await elsewhere(t, {
    '/': `<!doctype html><title>elsewhere</title>
      <img src="${http}/v1/tasks"><script src="${http}/login/key.js"></script>
      <link rel="stylesheet" href="${http}/login/page.css"><iframe name="frame" src="${http}/"></iframe>
      <form method="post" enctype="text/plain" target="frame" action="${http}/v1/relay/outbox/ratify">
      <input name='{"scope":"all","x":"' value='"}'></form>`,
  });
  for (const origin of [foreign.http, foreign.localhost]) {
    const context = await visit(t, browser);
    const own = await signIn(context, world);
    const page = await context.newPage();
    const statuses = new Map();
    page.on('response', (it) => it.url().startsWith(http) && statuses.set(`${it.request().method()} ${it.url()}`, it.status()));
    await page.goto(origin);
    const read = await page.evaluate(
      async ([http, body]) => {
        const json = { method: 'POST', credentials: 'include', body, headers: { 'Content-Type': 'application/json' } };
        const asked = [
          fetch(`${http}/v1/relay/inbox`, { credentials: 'include' }),
          fetch(`${http}/v1/daemon`, { mode: 'no-cors', credentials: 'include' }),
          fetch(`${http}/v1/relay/outbox/ratify`, json),
          fetch(`${http}/v1/links`, { ...json, mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } }),
        ];
        document.forms[0].submit();
        return (await Promise.allSettled(asked)).map((it) => it.value?.type ?? 'refused');
      },
      [http, body],
    );
    assert.ok(read.every((type) => type === 'refused' || type === 'opaque'), read.join(' '));
    await until('those that a page can hear of were answered', () => statuses.size >= 4);
    const wrong = [...statuses].filter(([, status]) => status !== 403);
    assert.deepEqual(wrong, [], origin);
    const scheme = (page) => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    assert.notEqual(await scheme(own), 'normal');
    assert.equal(await scheme(page), 'normal', 'no style of ours is lent');
    assert.equal(page.frame('frame').url() === `${http}/`, false, 'no frame shows our page');
  }
  const { briefs } = (await world.get('/v1/relay/inbox')).json;
  assert.equal(briefs.length, 1);
  assert.equal((await world.get('/v1/tasks')).json.total, 1);
  for (const origin of [foreign.http, 'null', 'http://flagpost.example', `https://127.0.0.1:${port}`]) {
    const headers = { origin, authorization: `Bearer ${token}` };
    assert.equal((await world.knock('/v1/daemon', { headers })).status, 403, origin);
  }
});
