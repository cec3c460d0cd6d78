// The requests of the original Kanban frontend, as it makes them, over the socket.
//
// What it expects is its own server's behaviour: the shapes, the order of `localeCompare`, what a missing or
// odd file becomes, and its stream. It keeps working with ours behind a proxy that adds the token.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ask, listen } from './asking.mjs';
import { until } from './patience.mjs';
import { ROOT, World } from './world.mjs';

const world = await World.make({ after });
await world.flagpost('add', 'Write the parser');
await world.flagpost('add', 'Test the parser', '--after', '1');
await world.up();

/** A list of a program that is not ours. */
function list(name, tasks = { 1: { id: '1', subject: 'One', status: 'pending' } }) {
  for (const [id, task] of Object.entries(tasks)) {
    world.write(join(world.list(name), `${id}.json`), typeof task === 'string' ? task : JSON.stringify(task));
  }
}

/** A directory of a session that a list points to. */
function session(name, files, dir = join(world.user, 'elsewhere', name)) {
  list(name);
  mkdirSync(dir, { recursive: true });
  world.write(join(world.list(name), 'execution_pointer.md'), `${dir}/\n`);
  for (const [file, text] of Object.entries(files)) world.write(join(dir, file), text);
  return dir;
}

const silent = listen({ socketPath: world.socket, path: '/api/events?taskListId=silent', headers: { host: 'flagpost' } });
const context = async (name) => (await world.get(`/api/execution-context/${name}`)).json.executionContext;
const stream = (path) => listen({ socketPath: world.socket, path, headers: { host: 'flagpost' } });
/** Everything but comments of a stream so far, event by event. */
const events = (text) =>
  text.split('\n\n').slice(0, -1).map((event) => {
    const lines = event.split('\n').filter((line) => !line.startsWith(':'));
    const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    return { event: of('event'), data: of('data') === undefined ? undefined : JSON.parse(of('data')) };
  }).filter((it) => it.data !== undefined);

test('it is well, and says the time', async () => {
  const told = await world.get('/api/health');
  assert.equal(told.status, 200);
  assert.equal(told.json.status, 'ok');
  assert.ok(Math.abs(Date.parse(told.json.timestamp) - Date.now()) < 60_000, told.text);
});

test('the lists that have tasks come in the order of localeCompare, with their number', async () => {
  const names = ['beta', 'Alpha', 'alpha-2', 'Zeta', 'zeta', '10', '2', '_x', 'a b', 'äpfel', '日本'];
  for (const name of names) list(name);
  mkdirSync(world.list('empty'), { recursive: true });
  const told = (await world.get('/api/task-lists')).json.taskLists;
  const expected = [...names, 'web'].sort((a, b) => a.localeCompare(b));
  assert.deepEqual(told.map((it) => it.name), expected);
  assert.deepEqual(told.find((it) => it.id === 'web'), { id: 'web', name: 'web', taskCount: 2 });
  assert.ok(told.every((it) => it.id === it.name && Object.keys(it).length === 3));
});

test('the tasks of a list come by number, in the shape of its own files', async () => {
  list('shapes', {
    10: { id: '10', subject: 'Ten', status: 'completed', blocks: [], blockedBy: ['9'] },
    9: { id: 9, subject: 'Nine', status: 'stuck', blocks: [10], activeForm: 'Doing nine', metadata: { x: [1] } },
    2: { subject: 'No id', description: 4, activeForm: 3 },
    3: { id: '3', status: 'pending' },
    4: '{',
  });
  const { tasks } = (await world.get('/api/tasks/shapes')).json;
  assert.deepEqual(tasks.map((it) => it.id), ['2', '9', '10']);
  const empty = { description: '', blocks: [], blockedBy: [], status: 'pending' };
  assert.deepEqual(tasks[0], { ...empty, id: '2', subject: 'No id' });
  assert.deepEqual(tasks[1], {
    ...empty, id: '9', subject: 'Nine', blocks: ['10'], activeForm: 'Doing nine', metadata: { x: [1] },
  });
  assert.deepEqual(tasks[2], { ...empty, id: '10', subject: 'Ten', status: 'completed', blockedBy: ['9'] });
});

test('a list that is not there has no tasks and no session', async () => {
  const tasks = await world.get('/api/tasks/none');
  assert.deepEqual([tasks.status, tasks.json], [200, { tasks: [] }]);
  const context = await world.get('/api/execution-context/none');
  assert.deepEqual([context.status, context.json], [200, { executionContext: null }]);
});

test('a name that climbs is refused', async () => {
  for (const of of ['tasks', 'execution-context']) {
    for (const name of ['..%2F..', '%2e%2e', 'a%2Fb', 'a..b', '..', '%2Fetc']) {
      const told = await world.get(`/api/${of}/${name}`);
      assert.equal(told.status, 400, `${of} ${name}: ${told.text}`);
      assert.deepEqual(told.json, { error: 'Invalid task list ID' }, `${of} ${name}`);
    }
  }
});

test('what is added against caches is ignored, and a slash at the end leads to the same', async () => {
  for (const path of ['/api/health', '/api/task-lists', '/api/tasks/web', '/api/execution-context/web']) {
    const shape = (told) => JSON.stringify(told.json).replace(/"timestamp":"[^"]*"/, '');
    const plain = shape(await world.get(path));
    assert.equal(shape(await world.get(`${path}?t=1&_=2&_=3`)), plain, path);
    let slashed = await world.get(`${path}/?_=5`);
    if ([307, 308].includes(slashed.status)) slashed = await world.get(slashed.headers.location);
    assert.equal(slashed.status, 200, path);
    assert.equal(shape(slashed), plain, path);
  }
});

test('OPTIONS is answered with 204', async () => {
  for (const path of ['/api/health', '/api/task-lists', '/api/tasks/web', '/api/execution-context/web', '/api/events']) {
    const told = await ask({ socketPath: world.socket, path, method: 'OPTIONS', headers: { host: 'flagpost' } });
    assert.equal(told.status, 204, `${path}: ${told.text}`);
    assert.match(told.headers.allow ?? '', /GET/, path);
  }
});

test('a session of a repository below the home is shown, though nobody registered it', async () => {
  const dir = session('unregistered', { 'task_log.md': '# Log\n' }, join(world.user, 'other/.claude/sessions/__live_session__'));
  const told = await context('unregistered');
  assert.equal(told.executionDir, dir);
  assert.equal(told.progress, null);
  const modified = statSync(join(dir, 'task_log.md')).mtimeMs;
  assert.deepEqual(told.artifacts.map(({ name, content }) => [name, content]), [['task_log', '# Log\n']]);
  assert.ok(Math.abs(told.artifacts[0].lastModified - modified) <= 1, `${told.artifacts[0].lastModified} ${modified}`);
});

test('a session outside the home is not shown, also not through a link', async () => {
  session('outside', {}, '/usr/share');
  assert.equal(await context('outside'), null);
  symlinkSync('/usr/share', join(world.user, 'leads-out'));
  session('through', {}, join(world.user, 'leads-out'));
  assert.equal(await context('through'), null);
});

test('the files of a session come in their order', async () => {
  const files = ['zebra', 'session_summary', 'progress', 'execution_plan', 'task_log', 'execution_context', 'Apple', 'beta'];
  session('order', { ...Object.fromEntries(files.map((name) => [`${name}.md`, name])), 'notes.txt': 'no' });
  const order = ['execution_context', 'task_log', 'execution_plan', 'session_summary'];
  const rest = files.filter((name) => !order.includes(name)).sort((a, b) => a.localeCompare(b));
  assert.deepEqual((await context('order')).artifacts.map((it) => it.name), [...order, ...rest]);
});

test('an empty directory of a session is none', async () => {
  session('empty-session', {});
  assert.equal(await context('empty-session'), null);
});

const PROGRESS = [
  ['in whole', `# Execution Progress
Status: Executing
Wave: 2 of 4
Max Parallel: 5
Updated: 2026-02-05T14:35:22Z

## Active Tasks
- [5] Add input validation — Phase 2 — Implementing

## Completed This Session
- [1] Implement auth middleware — PASS (2m 34s)
`, {
    status: 'Executing', wave: 2, totalWaves: 4, maxParallel: 5, updated: '2026-02-05T14:35:22Z',
    activeTasks: [{ id: '5', subject: 'Add input validation', phase: 'Phase 2 — Implementing' }],
    completedTasks: [{ id: '1', subject: 'Implement auth middleware', result: 'PASS (2m 34s)' }],
  }],
  ['as a file only where it says nothing that is known', 'We are nearly there.\n', null],
  ['as a file only where it says neither a status nor a time', '# Execution Progress\nWave: 1 of 2\nMax Parallel: 5\n', null],
  ['with words that nobody knows as they are', 'Status: Warming up\nWave: 2/4\nMax Parallel: 3\nUpdated: yesterday, 5 pm\n', {
    status: 'Warming up', wave: 2, totalWaves: 4, maxParallel: 3, updated: 'yesterday, 5 pm', activeTasks: [], completedTasks: [],
  }],
  ['without a limit that is not known', 'Status: Executing\nWave: 1 of 1\nUpdated: 2026-02-05T14:35:22Z\n', {
    status: 'Executing', wave: 1, totalWaves: 1, updated: '2026-02-05T14:35:22Z', activeTasks: [], completedTasks: [],
  }],
];
for (const [n, [how, text, expected]] of PROGRESS.entries()) {
  test(`the progress of a session is read ${how}`, async () => {
    session(`progress-${n}`, { 'progress.md': text });
    assert.deepEqual((await context(`progress-${n}`)).progress, expected);
  });
}

test('a session that was recovered does not execute', async () => {
  const live = join(world.repository, '.claude/sessions/__live_session__');
  const text = 'Status: Executing\nWave: 1 of 1\nMax Parallel: 5\nUpdated: 2026-02-05T14:35:22Z\n\n## Active Tasks\n- [1] Write the parser — Working\n';
  for (const [file, content] of Object.entries({
    'progress.md': text,
    'task_log.md': '# Task Execution Log\n',
    '.lock': 'task_execution_id: exec-session-20260205-143000\ntimestamp: 2026-02-05T14:30:22Z\npid: orchestrator\n',
  })) world.write(join(live, file), content);
  world.write(join(world.list(), 'execution_pointer.md'), `${live}/\n`);
  assert.equal((await context('web')).progress.status, 'Executing');
  await world.flagpost('session', 'recover');
  const told = await context('web');
  assert.notEqual(told?.progress?.status, 'Executing');
  assert.deepEqual(told?.progress?.activeTasks ?? [], []);
});

test('a stream begins with connected, which says no more', async (t) => {
  for (const path of ['/api/events?t=1', '/api/events?taskListId=web']) {
    const heard = await stream(path);
    t.after(heard.close);
    assert.equal(heard.status, 200);
    assert.match(heard.headers['content-type'], /^text\/event-stream/);
    await until('it is connected', () => events(heard.text).length > 0);
    assert.deepEqual(events(heard.text)[0], { event: 'connected', data: {} });
  }
});

test('the stream of all lists tells what happens to their tasks and sessions', async (t) => {
  const heard = await stream('/api/events');
  t.after(heard.close);
  await until('it is connected', () => events(heard.text).length > 0);
  const next = (what, holds) => until(what, () => events(heard.text).find(holds));
  const task = { id: '1', subject: 'One', status: 'pending' };
  list('streamed', { 1: task });
  const created = await next('created', (it) => it.event === 'task:created' && it.data.taskListId === 'streamed');
  assert.deepEqual([created.data.type, created.data.taskId, created.data.task.subject], ['task:created', '1', 'One']);
  list('streamed', { 1: { ...task, status: 'completed' } });
  const updated = await next('updated', (it) => it.event === 'task:updated' && it.data.taskListId === 'streamed');
  assert.deepEqual([updated.data.taskId, updated.data.task.status], ['1', 'completed']);
  rmSync(join(world.list('streamed'), '1.json'));
  const deleted = await next('deleted', (it) => it.event === 'task:deleted' && it.data.taskListId === 'streamed');
  assert.deepEqual(deleted.data, { type: 'task:deleted', taskListId: 'streamed', taskId: '1' });
  session('streamed', { 'progress.md': 'Status: Executing\nUpdated: now\n' });
  const session_of_it = await next('execution', (it) => it.event === 'execution:updated' && it.data.taskListId === 'streamed');
  assert.deepEqual(session_of_it.data, { type: 'execution:updated', taskListId: 'streamed' });
});

test('the stream of one list tells nothing of others', async (t) => {
  const heard = await stream('/api/events?taskListId=one');
  t.after(heard.close);
  await until('it is connected', () => events(heard.text).length > 0);
  list('two');
  list('one');
  await until('its own task', () => events(heard.text).some((it) => it.data.taskListId === 'one'));
  assert.deepEqual(events(heard.text).filter((it) => it.data.taskListId === 'two'), []);
});

/** contrib/kanban-proxy, on a port of its own; what asks it. */
async function proxy(t, home = world.home) {
  const child = spawn(process.execPath, [join(ROOT, 'contrib/kanban-proxy'), '0'], {
    env: { PATH: process.env.PATH, HOME: world.user, FLAGPOST_HOME: home }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((done) => child.once('exit', done));
  t.after(() => {
    child.kill('SIGKILL');
    return ended;
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  const port = Number(await until('it says where it is', () => /^http:\/\/127\.0\.0\.1:(\d+)\n/.exec(said)?.[1]));
  const to = { host: '127.0.0.1', port };
  return { port, to, ask: (path, { host = `127.0.0.1:${port}`, ...headers } = {}, method = 'GET', body) => ask({ ...to, path, method, body, headers: { host, ...headers } }) };
}

test('the proxy passes every request of the frontend on, and every answer as it is', async (t) => {
  session('proxied', { 'progress.md': 'Status: Executing\nUpdated: now\n', 'task_log.md': '# Log\n' });
  const { ask: through, port } = await proxy(t);
  const paths = ['/api/health?t=1', '/api/task-lists', '/api/tasks/web?_=1', '/api/tasks/none', '/api/tasks/..', '/api/tasks/..%2F..', '/api/tasks/%2e%2e',
    '/api/execution-context/proxied', '/api/execution-context/none', '/api/task-lists/', '/api/nothing'];
  for (const path of paths) {
    const [own, its] = [await world.get(path), await through(path)];
    const shape = (told) => [told.status, told.headers['content-type'], told.headers.location, told.text.replace(/"timestamp":"[^"]*"/, '')];
    assert.deepEqual(shape(its), shape(own), path);
  }
  assert.equal((await through('/api/health', { host: `localhost:${port}`, origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' })).status, 200);
});

test('the proxy passes streams on as they come', async (t) => {
  const { to, port } = await proxy(t);
  const heard = await listen({ ...to, path: '/api/events?taskListId=piped', headers: { host: `127.0.0.1:${port}` } });
  t.after(heard.close);
  assert.match(heard.headers['content-type'], /^text\/event-stream/);
  await until('it is connected', () => events(heard.text).length > 0);
  list('piped');
  await until('its task', () => events(heard.text).some((it) => it.event === 'task:created' && it.data.taskListId === 'piped'));
});

test('the proxy passes on nothing else', async (t) => {
  const { ask: through, port } = await proxy(t);
  const foreign = [{ host: `flagpost.example:${port}` }, { host: '127.0.0.1' }, { host: `127.0.0.1:${port + 1}` }, { host: `[::1]:${port}` }];
  for (const headers of foreign) assert.equal((await through('/api/health', headers)).status, 421, JSON.stringify(headers));
  for (const headers of [{ origin: 'http://127.0.0.1:1' }, { origin: 'null' }, { origin: `https://127.0.0.1:${port}` }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
    assert.equal((await through('/api/health', headers)).status, 403, JSON.stringify(headers));
  }
  for (const path of ['/', '/api', '/v1/tasks', '/v1/links', '/login/x', '/api/../v1/tasks', '/api/%2e%2e/v1/tasks', '/api/x/../../v1/tasks', '/api/..\\v1/tasks', `http://127.0.0.1:${port}/api/health`, '//api/health']) {
    const told = await through(path);
    assert.equal(told.status, 404, path);
    assert.deepEqual(told.json, { error: 'There is only /api/ here.' });
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    assert.equal((await through('/api/tasks/web', {}, method, method === 'OPTIONS' ? undefined : {})).status, 405, method);
  }
  assert.equal((await world.get('/api/tasks/web')).json.tasks.length, 2);
});

test('the proxy says so where no daemon answers', async (t) => {
  const { ask: through } = await proxy(t, join(world.user, 'nobody'));
  const told = await through('/api/health');
  assert.equal(told.status, 502);
  assert.match(told.json.error, /flagpost daemon up/);
});

test('a silent stream says that it is there', async (t) => {
  // It began before the other tests.
  const heard = await silent;
  t.after(heard.close);
  await until('a comment comes', () => /^:/m.test(heard.text));
});
