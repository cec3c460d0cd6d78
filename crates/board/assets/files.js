// Files: which worker announced which paths, and until when.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get } from './api.js';
import { fail } from './notices.js';
import { fleetMoved, repositories } from './state.js';
import { left, plain } from './words.js';

/** @typedef {{ n: number, path: string, worker: string, mode: string, task: string | null, reason: string | null, until: string, repo: string }} Reservation */

export function Files() {
  const [all, setAll] = useState(/** @type {Reservation[] | null} */ (null));
  const moved = fleetMoved.value;
  useEffect(() => {
    const timer = setTimeout(() => {
      const asked = repositories.peek().map(async ({ id, name: repo }) => (await get('/v1/reservations', { repo: id })).reservations.map((/** @type {Reservation} */ it) => ({ ...it, repo })));
      Promise.all(asked).then((found) => setAll(found.flat())).catch(fail);
    }, all === null ? 0 : 200);
    return () => clearTimeout(timer);
  }, [moved]);
  const holders = Map.groupBy(all ?? [], ({ repo, path }) => `${repo} ${path}`);
  /** @param {Reservation} it */
  const isShared = (it) => (holders.get(`${it.repo} ${it.path}`)?.length ?? 0) > 1;
  const rows = [...(all ?? [])].sort((a, b) => Number(isShared(b)) - Number(isShared(a)) || a.path.localeCompare(b.path));
  return html`
    <main id="main" tabindex="-1" class="page wide" aria-busy=${all === null}>
      <h1>Files</h1>
      ${all !== null && rows.length === 0 && html`<p>Nothing is reserved: <code>flagpost reserve add 'src/**' --as W1</code></p>`}
      ${rows.length > 0 && html`
        <div class="wide-table"><table>
          <thead><tr><th scope="col">Path</th><th scope="col">Worker</th><th scope="col">Mode</th><th scope="col">Task</th><th scope="col">For</th><th scope="col">Why</th></tr></thead>
          <tbody>${rows.map((it) => html`
            <tr key=${`${it.repo} ${it.n}`}><td><code>${plain(it.path)}</code>${isShared(it) && html` <b class="waits">several</b>`}</td><td>${plain(it.worker)}</td><td>${it.mode}</td><td>${it.task === null ? '' : `#${it.task}`}</td><td>${left(it.until) ?? 'over'}</td><td>${plain(it.reason ?? '')}</td></tr>
          `)}</tbody>
        </table></div>
      `}
    </main>
  `;
}
