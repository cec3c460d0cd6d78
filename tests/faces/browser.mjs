// A real Chromium for the tests of the faces.
//
// Owns the browser's process, its windows, and what goes wrong in them: errors of scripts and of the
// console, and every violation of the page's policy, that of Trusted Types included. Its modules lie in
// target/faces/node_modules, or where FLAGPOST_TEST_MODULES says; FLAGPOST_TEST_CHROMIUM names the program.

import { createRequire } from 'node:module';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { lend, lendLogin } from './assets.mjs';
import { PATIENCE, until } from './patience.mjs';
import { ROOT } from './world.mjs';

const MODULES = process.env.FLAGPOST_TEST_MODULES || join(ROOT, 'target/faces/node_modules');
/** Loads a module that `./check` has installed. */
export const installed = createRequire(join(MODULES, 'faces.cjs'));

/** The sizes in which the screens are tried, and the colours. */
export const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };
export const SCHEMES = ['light', 'dark'];

function chromium() {
  const named = process.env.FLAGPOST_TEST_CHROMIUM;
  if (named) return named;
  const dirs = (process.env.PATH ?? '').split(delimiter);
  const found = dirs.map((dir) => join(dir, 'chromium-headless-shell')).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error('chromium-headless-shell is not installed (./check installs it)');
  return found;
}

/** Scripts that run for seconds are not worth optimising, and nobody else's processor is to be had for it. */
const QUICK = '--js-flags=--no-opt --single-threaded';

/** All pages of a window are run by one process: to start one takes longer than most pages. */
const FEW = '--renderer-process-limit=1';

/** A browser of the test's own, which ends with the test. `args` are Chromium's. */
export async function open(t, args = []) {
  const browser = await installed('playwright-core').chromium.launch({
    executablePath: chromium(),
    timeout: PATIENCE,
    // It shows only what the tests themselves wrote, and starts where there are no namespaces.
    chromiumSandbox: false,
    args: ['--disable-dev-shm-usage', '--no-proxy-server', '--disable-gpu', QUICK, FEW, ...args],
  });
  t.after(() => browser.close());
  return browser;
}

/** A window with cookies and storage of its own. Each of its pages has `faults`, and tells what it heard. */
export async function visit(t, browser, { size = SIZES.wide, scheme = 'light', ...more } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, ...more });
  t.after(() => context.close());
  context.setDefaultTimeout(PATIENCE);
  await context.exposeBinding('faultOfPolicy', ({ page }, fault) => page.faults?.push(fault));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.faultOfPolicy(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  context.on('page', watch);
  await lendLogin(context);
  return context;
}

function watch(page) {
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') page.faults.push(`console: ${message.text()}`);
  });
}

/**
 * Stops the clock of a page, whose context has one installed: from now on only the test moves it, with `runFor`, and
 * what the page leaves for later happens when that is said, on whatever machine.
 */
export async function hold(page) {
  const now = await page.evaluate(() => Date.now());
  // A clock that runs cannot be stopped at the moment that it shows: it has gone on by then.
  await page.clock.setFixedTime(now);
  await page.clock.pauseAt(now);
  await page.clock.setSystemTime(now);
}

/** Waits until the test has heard of each request that the page has made so far: one that came after them was answered. */
export const settled = (page) => page.evaluate(async () => void (await (await fetch('/login/page.css', { cache: 'no-store' })).text()));

/** Waits until what a page was told last is drawn and acts: keys and other effects follow the next frame. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

/** Hears what the stream tells a page, after the page itself; `hears` waits for an event with this name and these words. */
export async function overhear(page) {
  await page.evaluate(() => {
    globalThis.overheard = [];
    // The tab that leads passes everything on.
    new BroadcastChannel('flagpost-stream').onmessage = ({ data }) => globalThis.overheard.push(data);
  });
  return (event, words) =>
    until(`the page hears of ${event}: ${words}`, () =>
      page.evaluate(([event, words]) => globalThis.overheard.some((it) => it.event === event && it.data.includes(words)), [event, words]),
    );
}

/** Follows a link, and waits until the page that it signs in to is there. */
export async function signIn(context, world) {
  await lend(context, world.daemon.http);
  const page = await context.newPage();
  await page.goto(await world.link());
  await page.waitForURL(`${world.daemon.http}/`);
  return page;
}

/** The first page, at the repository that 'flagpost board' was typed in. */
export const isFirst = ({ pathname, hash }) => pathname === '/' && hash.startsWith('#repo=');

/** A page of a browser that is signed in already, at this address: for tests that are not about the sign-in. */
export async function enter(context, world, path = '/') {
  const { http } = world.daemon;
  await lend(context, http);
  const { name, value, key } = await world.session();
  await context.addCookies([{ name, value, url: http, httpOnly: true, sameSite: 'Strict' }]);
  const page = await context.newPage();
  await page.addInitScript(
    ([http, key]) => {
      if (location.origin === http && sessionStorage.getItem('flagpost-key') === null) sessionStorage.setItem('flagpost-key', key);
    },
    [http, key],
  );
  await page.goto(`${http}${path}`);
  return page;
}
