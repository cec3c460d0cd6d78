// A sealed world for the tests of the faces: a home and a repository that nobody else knows, and a daemon.
//
// Owns a temporary directory, what a process started in it can see (nothing of the machine but PATH), and
// the end of all of them: every process is ended by its id, within a deadline, also where a test fails.
// The program is target/debug/flagpost, or the one that FLAGPOST_TEST_BIN names.

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ask } from './asking.mjs';
import { PATIENCE, until } from './patience.mjs';

export const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = resolve(process.env.FLAGPOST_TEST_BIN || join(ROOT, 'target/debug/flagpost'));

const run = promisify(execFile);

// A file that comes to no end is ended so. Its worlds vanish as it exits.
process.once('SIGTERM', () => process.exit(143));

/** A home and a git repository, `web`, below it. */
export class World {
  #dir = mkdtempSync(join(tmpdir(), 'faces-'));
  #daemon = null;
  #others = [];

  /** A registered repository; it is gone with the test. */
  static async make(t) {
    const world = new World();
    const last = () => world.#vanish();
    process.once('exit', last);
    t.after(async () => {
      await world.down();
      last();
      process.off('exit', last);
    });
    mkdirSync(world.repository, { recursive: true });
    await run('git', ['init', '--quiet', '.'], world.#sealed());
    await world.flagpost('init', '--yes');
    return world;
  }

  /** The user's home. */
  get user() {
    return join(this.#dir, 'home');
  }
  /** `$FLAGPOST_HOME`. */
  get home() {
    return join(this.user, '.flagpost');
  }
  get repository() {
    return join(this.user, 'web');
  }
  get socket() {
    return join(this.home, 'run/daemon.sock');
  }
  /** The files of a list. */
  list(name = 'web') {
    return join(this.home, 'tasks', name);
  }
  /** What the daemon that runs is: its address and its token. */
  get daemon() {
    return this.#daemon;
  }

  #sealed() {
    const env = {
      PATH: process.env.PATH,
      HOME: this.user,
      FLAGPOST_HOME: this.home,
      XDG_CONFIG_HOME: join(this.user, 'config'),
      XDG_DATA_HOME: join(this.user, 'data'),
      XDG_CACHE_HOME: join(this.user, 'cache'),
      XDG_RUNTIME_DIR: join(this.user, 'runtime'),
      USER: 'ann',
      TZ: 'UTC',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CEILING_DIRECTORIES: this.#dir,
    };
    return { cwd: this.repository, env, timeout: PATIENCE, killSignal: 'SIGKILL' };
  }

  /** Runs the program, which must work; what it printed. */
  async flagpost(...args) {
    const { stdout } = await run(PROGRAM, args, this.#sealed());
    return stdout;
  }

  /** The same, standing in another directory. */
  async flagpostIn(cwd, ...args) {
    const { stdout } = await run(PROGRAM, args, { ...this.#sealed(), cwd });
    return stdout;
  }

  /** Runs git in the repository, under a name of its own; what it printed. */
  async git(...args) {
    const { env, ...rest } = this.#sealed();
    const { stdout } = await run('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@localhost', ...args], { ...rest, env });
    return stdout;
  }

  /** Starts the program and leaves it to itself, as a run; its end is promised. It ends with the world. */
  start(...args) {
    const { cwd, env } = this.#sealed();
    const child = spawn(PROGRAM, args, { cwd, env, stdio: 'ignore' });
    const ended = new Promise((done) => child.once('exit', done));
    this.#others.push({ child, ended });
    return ended;
  }

  /** Runs the program with this on its stdin. */
  async feed(text, ...args) {
    const running = run(PROGRAM, args, this.#sealed());
    running.child.stdin.end(text);
    return (await running).stdout;
  }

  /** What the hook of a worker's client answers at this event, once it does. */
  async hook(worker, event, sent) {
    const { env, ...rest } = this.#sealed();
    const running = run(PROGRAM, ['hook', event, '--agent', 'claude'], { ...rest, env: { ...env, FLAGPOST_WORKER: worker } });
    running.child.stdin.end(JSON.stringify(sent));
    return (await running).stdout;
  }

  /** Writes a file of somebody else's. */
  write(path, text) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Starts the daemon, and waits until it answers. */
  async up() {
    const { cwd, env } = this.#sealed();
    const child = spawn(PROGRAM, ['daemon', 'up', '--foreground'], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
    const ended = new Promise((done) => child.once('exit', done));
    this.#daemon = { child, ended };
    await until('the daemon answers', async () => {
      if (child.exitCode !== null) throw new Error(`the daemon has ended: ${said}`);
      return /\bready\b/.test(said) && (await this.get('/v1/daemon')).status === 200;
    });
    const { http } = (await this.get('/v1/daemon')).json.daemon;
    const token = readFileSync(join(this.home, 'run/token'), 'utf8').trim();
    Object.assign(this.#daemon, { http, port: Number(new URL(http).port), token, pid: child.pid });
    return this.#daemon;
  }

  /** Ends the daemon and what was started, where it runs; what does not end by itself is killed once patience is over. */
  async down() {
    for (const { child, ended } of this.#others.splice(0)) {
      // A run that is told so twice ends its agents too. Two signals at once are one.
      child.kill('SIGINT');
      const again = setInterval(() => child.kill('SIGINT'), 100);
      const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
      if (child.exitCode === null && child.signalCode === null) await ended;
      clearInterval(again);
      clearTimeout(late);
    }
    const daemon = this.#daemon;
    this.#daemon = null;
    if (daemon === null) return;
    daemon.child.kill('SIGTERM');
    const late = setTimeout(() => daemon.child.kill('SIGKILL'), PATIENCE);
    await daemon.ended;
    clearTimeout(late);
  }

  /** Ends the daemon as a crash does. */
  async kill() {
    const daemon = this.#daemon;
    this.#daemon = null;
    daemon.child.kill('SIGKILL');
    await daemon.ended;
  }

  #vanish() {
    this.#daemon?.child.kill('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Asks over the socket, which needs no token. */
  get(path, headers = {}) {
    return ask({ socketPath: this.socket, path, headers: { host: 'flagpost', ...headers } });
  }

  /** Sends over the socket; it must work. */
  async post(path, body = {}) {
    const told = await ask({ socketPath: this.socket, path, method: 'POST', body, headers: { host: 'flagpost' } });
    if (told.status !== 200) throw new Error(`POST ${path}: ${told.status} ${told.text}`);
    return told.json;
  }

  /** Asks over the loopback, with the headers that are given and no others. */
  knock(path, { method = 'GET', headers = {}, body } = {}) {
    const host = `127.0.0.1:${this.#daemon.port}`;
    return ask({ host: '127.0.0.1', port: this.#daemon.port, path, method, body, headers: { host, ...headers } });
  }

  /** A link that signs a browser in. */
  async link() {
    return (await this.post('/v1/links')).url;
  }

  /** A session of a browser, made without one: its cookie and its key. */
  async session() {
    const { pathname, hash } = new URL(await this.link());
    const key = hash.slice(1);
    const told = await this.knock('/login', { method: 'POST', headers: { 'flagpost-key': key }, body: { code: pathname.split('/').pop() } });
    if (told.status !== 204) throw new Error(`POST /login: ${told.status} ${told.text}`);
    const [name, value] = told.headers['set-cookie'][0].split(';')[0].split('=');
    return { name, value, key };
  }

  /** A brief that waits for the person; its number. */
  async brief(worker, text, ticket = '7') {
    const told = await this.feed(text, 'assign', ticket, worker, '--inline', '-', '--json');
    return JSON.parse(told);
  }
}
