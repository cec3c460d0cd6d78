// The board from a folder in place of the one in the program: whoever changes its files tries them without
// building. FLAGPOST_TEST_ASSETS names the folder; without it nothing here acts.

import { existsSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';

const FOLDER = process.env.FLAGPOST_TEST_ASSETS;
const KINDS = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.html': 'text/html' };
const LOGIN = ['login.js', 'key.js', 'page.css', 'refused.js'];
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'none'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const APP = '/app/folder/';

/** A file of the folder, or of the one for modules of others beside it. */
function file(name) {
  const found = ['.', '../vendor', '../login'].map((it) => resolve(FOLDER, it, name)).find((it) => existsSync(it));
  if (found === undefined) return { status: 404, body: '' };
  return { contentType: `${KINDS[extname(name)]}; charset=utf-8`, body: readFileSync(found) };
}

/** Shows the folder's pages of the sign-in in place of the program's. */
export async function lendLogin(context) {
  if (!FOLDER) return;
  const shown = { headers: { 'Content-Security-Policy': POLICY } };
  await context.route(/^http:\/\/127\.0\.0\.1:\d+\/login\/./, async (route) => {
    const request = route.request();
    const { origin, pathname } = new URL(request.url());
    // Pages of other origins ask the daemon itself.
    if (!request.isNavigationRequest() && !request.frame().url().startsWith(`${origin}/`)) return route.continue();
    const name = pathname.split('/').pop();
    const told = await route.fetch();
    if (LOGIN.includes(name)) return route.fulfill({ ...file(name), ...shown });
    return told.status() === 200 ? route.fulfill({ ...file('login.html'), ...shown }) : route.fulfill({ response: told });
  });
}

/** Shows the folder's files in this window, to those whom the daemon shows its own. */
export async function lend(context, http) {
  if (!FOLDER) return;
  await context.route(`${http}${APP}*`, (route) => route.fulfill(file(new URL(route.request().url()).pathname.split('/').pop())));
  await context.route(
    (url) => url.origin === http && /^\/$|^\/(lists|inbox|runs)\//.test(url.pathname),
    async (route) => {
      const request = route.request();
      if (!request.isNavigationRequest() || request.frame().parentFrame() !== null) return route.continue();
      const told = await route.fetch({ url: `${http}/` });
      if (told.status() === 401) return route.fulfill({ status: 401, ...file('refused.html'), headers: { 'Content-Security-Policy': POLICY } });
      if (told.status() !== 200) return route.fulfill({ response: told });
      const body = readFileSync(join(FOLDER, 'index.html'), 'utf8').replaceAll('{{app}}', APP);
      return route.fulfill({ contentType: 'text/html; charset=utf-8', headers: { 'Content-Security-Policy': POLICY }, body });
    },
  );
}
