// The fleet of machines that the home is in: who follows and how far, and what stands still. Nothing where the
// home is in none.
// @ts-check

import { html } from './preact.js';
import { machines } from './state.js';
import { age, count, plain } from './words.js';

/** @param {string | null} since */
const since = (since) => (since === null ? '' : ` for ${age(since)}`);

/** What stands in the way, on every screen. */
export function MachinesBanner() {
  const fleet = machines.value;
  if (fleet === null) return null;
  const { standing } = fleet;
  if (standing === null) return html`<p class="banner" role="status">◌ How the fleet of machines stands is not known${since(fleet.since)}: no daemon follows it here.</p>`;
  const frozen = standing.repositories.filter((it) => it.frozen !== null);
  const own = standing.machines.find((it) => it.machine === standing.machine);
  return html`
    ${fleet.link === 'alone' && html`<p class="banner" role="status">✗ This machine is alone${since(fleet.since)} (${plain(standing.server.fault ?? '')}): what is shared can be read and not changed.</p>`}
    ${frozen.map((it) => html`<p class="banner" role="status" key=${it.id}>✗ ${plain(it.name)} is frozen (${plain(it.frozen ?? '')}): nothing of it is changed here any more.</p>`)}
    ${fleet.link === 'connected' && frozen.length === 0 && own?.behind && html`<p class="banner" role="status">▲ This machine is behind by ${count(own.lag ?? 0, 'line')}${since(own.behind_since)}.</p>`}
  `;
}

/** A machine: its sign and what that says. @param {Machine} it @param {MachinesSeen} fleet */
function signOf(it, fleet) {
  if (fleet.link !== 'connected') return { sign: '◌', as: 'dim', words: 'not known' };
  if (it.since === null) return { sign: '◌', as: 'dim', words: 'silent' };
  const words = `${count(it.lag ?? 0, 'line')} behind`;
  return it.behind ? { sign: '▲', as: 'bad', words: `${words}${since(it.behind_since)}` } : { sign: '●', as: 'good', words: it.lag === 0 ? 'has all' : words };
}

/** What a server that is not whole lacks. @type {Record<ServerCopy['state'], string>} */
const LACKS = { whole: 'has all', partial: 'does not have all yet', away: 'is away' };

/** The machines, for the screen of the fleet. */
export function Machines() {
  const fleet = machines.value;
  if (fleet === null) return null;
  const { standing } = fleet;
  return html`
    <section aria-labelledby="machines">
      <h2 id="machines">Machines <span class="dim">${standing === null ? 'not known' : fleet.link === 'alone' ? `alone${since(fleet.since)}` : `${standing.machines.filter((it) => it.since !== null).length} of ${standing.machines.length} follow`}</span></h2>
      ${standing === null && html`<p>No daemon follows the fleet here: <code>flagpost up</code></p>`}
      ${standing?.server.copies.filter((it) => it.state !== 'whole').map((it) => html`<p key=${it.server}><span class="bad" aria-hidden="true">▲</span> The server at ${plain(it.server)} ${LACKS[it.state]}.</p>`)}
      <ul class="fleet">${standing?.machines.map((it) => {
        const { sign, as, words } = signOf(it, fleet);
        return html`
          <li class="worker" key=${it.machine}>
            <h3><span class=${as} aria-hidden="true">${sign}</span> ${plain(it.host)} <span class="dim">${it.machine}${it.machine === standing.machine && ', here'}</span></h3>
            <p class="dim">${words} · Flagpost ${plain(it.flagpost)}</p>
          </li>
        `;
      })}</ul>
      ${standing !== null && html`<p class="dim">${standing.repositories.map((it) => `${plain(it.name)}: line ${it.here ?? '–'} here, ${it.there ?? '–'} in the fleet`).join(' · ')}</p>`}
    </section>
  `;
}
