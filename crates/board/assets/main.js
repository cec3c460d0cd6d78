// The start: finds the key, listens, and shows the screen that the address names.
// @ts-check

import { find, lend, waitForKey } from '/login/key.js';
import { html, render, signal, useEffect } from './preact.js';
import { use } from './api.js';
import { Asked } from './ask.js';
import { Board, Outlines } from './board.js';
import { ChangePage } from './change.js';
import { Files } from './files.js';
import { Fleet } from './fleet.js';
import { Refused, Footer, Header, Lost, useFrameKeys } from './frame.js';
import { Graph } from './graph.js';
import { Inbox } from './inbox.js';
import { Landing } from './landing.js';
import { List } from './list.js';
import { MachinesBanner } from './machines.js';
import { Messages } from './messages.js';
import { Toasts, toast } from './notices.js';
import { Palette } from './palette.js';
import { address, route } from './route.js';
import { Run } from './run.js';
import { Settings } from './settings.js';
import { listen } from './shared.js';
import { change, connection, heardAt, listNames, lists, machines, resync, snapshot, transition } from './state.js';
import { TaskPage } from './task.js';
import './theme.js';
import { isKnown, waiting } from './waits.js';
import { count, isNarrow, now, plain } from './words.js';

/** @type {Record<string, unknown>} */
const OF = { board: Board, list: List, graph: Graph, inbox: Inbox, fleet: Fleet, run: Run, landing: Landing, messages: Messages, files: Files, settings: Settings };

/** Whether the first state has come, and what waits is known. */
const isStarted = signal(false);

/** Without a screen in the address: the Inbox where something waits, else the board. */
let first = '';

function Screen() {
  const { screen, list, task, isChange, isKnown: isPage } = route.value;
  if (!isPage) return html`<main id="main" tabindex="-1" class="page"><h1>There is no page ${plain(address.value)}</h1><p><a href="/">The first page</a></p></main>`;
  if (!isStarted.value || (screen === null && !isKnown.value)) return html`<${Outlines} />`;
  if (list !== null && connection.value !== 'loading' && !lists.has(list) && listNames.value.length > 0) {
    return html`<main id="main" tabindex="-1" class="page"><h1>There is no list ${list}</h1><p><a href="/">The first list</a></p></main>`;
  }
  first ||= waiting.peek().length > 0 ? 'inbox' : 'board';
  const Shown = OF[screen ?? first];
  if (isChange) return html`<${ChangePage} />`;
  if (task !== null && isNarrow.value) return html`<main id="main" tabindex="-1"><${TaskPage} /></main>`;
  return html`<${Shown} />${task !== null && html`<aside aria-label="The open task"><${TaskPage} /></aside>`}`;
}

function App() {
  useFrameKeys();
  const isRefused = connection.value === 'refused';
  const waits = waiting.value.length;
  const { task, isChange } = route.value;
  useEffect(() => {
    document.title = `${waits > 0 ? `(${waits}) ` : ''}Flagpost`;
  }, [waits]);
  if (isRefused) return html`<${Refused} />`;
  return html`
    <a class="unseen" href="#main">To the screen</a>
    <${Header} />
    <${Lost} />
    <${MachinesBanner} />
    <div class=${task === null || isChange ? 'screen' : 'screen with-task'}><${Screen} /></div>
    <${Footer} />
    <${Toasts} />
    <${Asked} />
    <${Palette} />
  `;
}

/** @param {string} event @param {any} data */
function told(event, data) {
  if (event === 'daemon.resync') {
    const differ = resync(data.repositories, data.fleet);
    if (isStarted.peek() && differ > 0) toast(`Caught up: ${count(differ, 'change')}.`);
    if (!isStarted.peek()) setTimeout(() => (isStarted.value = true), 0);
  } else if (event === 'list.changed') change(data);
  else if (event === 'fleet.changed') machines.value = data.fleet;
  else transition(event, data.line);
}

const place = document.getElementById('app');
const key = await find();
if (key === null) {
  connection.value = 'refused';
  waitForKey();
} else {
  const lent = lend(key);
  use(key);
  listen({ 'Flagpost-Key': key }, {
    told,
    heard: () => {
      heardAt.value = Date.now();
    },
    state: (word) => {
      // A key that opens nothing is lent to nobody.
      if (word === 'refused' && connection.peek() !== word) {
        lent.close();
        waitForKey();
      }
      connection.value = word;
      now.value = Date.now();
    },
    snapshot,
  });
}
if (place !== null) render(html`<${App} />`, place);
