// The settings: what holds here and where it is from, what does not hold and the command that mends it, the
// browsers that are in, and the choices of this browser.
//
// The page changes only its own choices. The setup is looked over when the screen is opened or by its button.
// @ts-check

import { html, useEffect, useState } from './preact.js';
import { get } from './api.js';
import { isOn } from './keys.js';
import { Command } from './notices.js';
import { list, toTask } from './route.js';
import { repositoryOf } from './state.js';
import { density, DENSITIES, theme, THEMES } from './theme.js';
import { age, count, plain } from './words.js';

/** @typedef {{ key: string, value: unknown, hidden: boolean, origin: string, variable: string | null, about: string }} Setting */
/** @typedef {{ severity: 'error' | 'warning' | 'note', code: string, what: string, path: string | null, list: string | null, task: string | null, repair: { kind: string, text: string | null } }} Finding */

/** An answer, asked for anew with each `n`; null until it is there. @param {string} path @param {{ repo?: string }} [query] @param {number} [n] */
function useAnswer(path, query = {}, n = 0) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  useEffect(() => {
    let isHere = true;
    setAnswer(null);
    get(path, query).catch(({ message }) => ({ fault: message })).then((it) => isHere && setAnswer(it));
    return () => {
      isHere = false;
    };
  }, [path, query.repo, n]);
  return answer;
}

/** @param {{ answer: any }} of */
const Fault = ({ answer }) => answer?.fault !== undefined && html`<p class="warn">${answer.fault}</p>`;

export function Settings() {
  return html`
    <main id="main" tabindex="-1" class="page">
      <h1>Settings</h1>
      <${Here} />
      <${Findings} repo=${repositoryOf(list.value)} />
      <${Browsers} />
      <${Values} />
    </main>
  `;
}

/** The choices of this browser. */
function Here() {
  /** @param {string} label @param {import('./preact.js').Signal<any>} kept @param {string[]} choices */
  const choice = (label, kept, choices) => html`
    <label>${label} <select value=${kept.value} onChange=${(/** @type {Event} */ event) => (kept.value = /** @type {HTMLSelectElement} */ (event.target).value)}>
      ${choices.map((it) => html`<option key=${it} value=${it}>${it}</option>`)}
    </select></label>
  `;
  return html`
    <section aria-labelledby="here">
      <h2 id="here">This browser</h2>
      <p class="choices">
        ${choice('Theme', theme, THEMES)} ${choice('Density', density, DENSITIES)}
        <label><input type="checkbox" checked=${isOn.value} onChange=${() => (isOn.value = !isOn.peek())} /> Single keys act</label>
      </p>
    </section>
  `;
}

const SEVERITY = { error: '✗', warning: '▲', note: '○' };

/** @param {{ repo: Repository | undefined }} of */
function Findings({ repo }) {
  const [n, setN] = useState(0);
  const answer = useAnswer('/v1/doctor', { repo: repo?.id }, n);
  /** @type {Finding[] | undefined} */
  const findings = answer?.findings;
  return html`
    <section aria-labelledby="findings" aria-busy=${answer === null}>
      <h2 id="findings">Findings <span class="dim">${plain(repo?.name ?? '')}</span></h2>
      <${Fault} answer=${answer} />
      ${findings?.length === 0 && html`<p>All is well.</p>`}
      <ul class="runs">
        ${findings?.map((it, at) => html`
          <li key=${at}>
            <p><b class=${`severity ${it.severity}`}><span aria-hidden="true">${SEVERITY[it.severity]}</span> ${it.severity}</b> ${plain(it.what)}</p>
            <p class="dim">${it.code}${it.list !== null && it.task !== null && html` · <a href=${toTask(it.list, it.task)}>#${plain(it.task)}</a>`}${it.path !== null && ` · ${plain(it.path)}`}</p>
            ${it.repair.text !== null && html`<p>${it.repair.kind === 'fix' ? 'It would ' : 'To mend it: '}${plain(it.repair.text)}</p>`}
            ${it.repair.kind === 'fix' && html`<p><${Command} text="flagpost doctor --fix" /></p>`}
          </li>
        `)}
      </ul>
      <p><button type="button" disabled=${answer === null} onClick=${() => setN(n + 1)}>${answer === null ? 'Looking…' : 'Look again'}</button></p>
    </section>
  `;
}

/** What browsers call themselves, those first that name others too. */
const BROWSERS = { 'Firefox/': 'Firefox', 'Edg/': 'Edge', 'OPR/': 'Opera', 'Chrome/': 'Chrome', 'Safari/': 'Safari' };
/** A browser in two words; another as it calls itself. @param {string} agent */
function browserOf(agent) {
  const [, name] = Object.entries(BROWSERS).find(([it]) => agent.includes(it)) ?? [];
  const system = /Windows|Android|iPhone|iPad|Macintosh|Linux/.exec(agent)?.[0];
  return name === undefined ? plain(agent) || 'A browser' : system === undefined ? name : `${name} on ${system}`;
}

function Browsers() {
  const answer = useAnswer('/v1/browsers');
  /** @type {{ name: string, since: string, used: string }[]} */
  const browsers = answer?.browsers ?? [];
  return html`
    <section aria-labelledby="browsers">
      <h2 id="browsers">Browsers <span class="dim">${answer !== null && `${browsers.length} signed in`}</span></h2>
      <${Fault} answer=${answer} />
      <ul class="runs">${browsers.map(({ name, since, used }, n) => html`<li key=${n} title=${plain(name)}>${browserOf(name)} <span class="dim">signed in ${age(since)} ago · last asked ${age(used)} ago</span></li>`)}</ul>
      <p>Sign all of them out: <${Command} text="flagpost board --sign-out" /></p>
    </section>
  `;
}

/** Where a value is from. @param {Setting} of */
const originOf = ({ origin, variable }) => ({ unset: '', default: 'default', environment: `from ${variable}` })[origin] ?? `from ${origin}`;
/** @param {Setting} of */
const valueOf = ({ value, hidden }) => (hidden ? 'not shown' : value === null ? 'not set' : plain(Array.isArray(value) ? value.join(', ') : String(value)));

function Values() {
  const answer = useAnswer('/v1/config');
  /** @type {Setting[]} */
  const settings = answer?.settings ?? [];
  const parts = Map.groupBy(settings, ({ key }) => key.split('.', 1)[0] ?? '');
  return html`
    <section aria-labelledby="values" aria-busy=${answer === null}>
      <h2 id="values">Values <span class="dim">${plain(answer?.path ?? '')}</span></h2>
      <${Fault} answer=${answer} />
      <p>Set one in the terminal: <code>flagpost config set NAME VALUE</code></p>
      ${(answer?.unknown ?? []).map((/** @type {{ key: string, line: number, suggestion: string | null }} */ it) => html`<p class="warn" key=${it.line}>Line ${it.line}: ${plain(it.key)} is no setting${it.suggestion !== null && `; ${it.suggestion} may be meant`}.</p>`)}
      ${[...parts].map(([part, all]) => html`
        <section key=${part} aria-label=${part}>
          <h3>${part} <span class="dim">${count(all.length, 'setting')}</span></h3>
          <dl class="settings">
            ${all.map((it) => html`<div key=${it.key}><dt><code>${it.key}</code></dt><dd><b class=${it.value === null ? 'dim' : ''}>${valueOf(it)}</b> <span class="dim">${originOf(it)}</span><br /><span class="dim">${it.about}</span></dd></div>`)}
          </dl>
        </section>
      `)}
    </section>
  `;
}
