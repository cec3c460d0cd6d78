// Files: which worker announced which paths, and until when.
// @ts-check

import { html } from './preact.js';
import { useAskedOfAll } from './asked.js';
import { fleetMoved } from './state.js';
import { left, plain } from './words.js';

/** @typedef {{ n: number, path: string, worker: string, mode: string, task: string | null, reason: string | null, until: string, repo: string }} Reservation */

export function Files() {
  const told = useAskedOfAll('/v1/reservations', fleetMoved.value);
  /** @type {Reservation[]} */
  const all = (told ?? []).flatMap(({ repo, answer }) => answer.reservations.map((/** @type {Reservation} */ it) => ({ ...it, repo: repo.name })));
  const holders = Map.groupBy(all, ({ repo, path }) => `${repo} ${path}`);
  /** @param {Reservation} it */
  const isShared = (it) => (holders.get(`${it.repo} ${it.path}`)?.length ?? 0) > 1;
  const rows = [...all].sort((a, b) => Number(isShared(b)) - Number(isShared(a)) || a.path.localeCompare(b.path));
  return html`
    <main id="main" tabindex="-1" class="page wide" aria-busy=${told === null}>
      <h1>Files</h1>
      ${told !== null && rows.length === 0 && html`<p>Nothing is reserved: <code>flagpost reserve add 'src/**' --as W1</code></p>`}
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
