// What waits for the person, and what happens, as it happens.
//
// Everything that agents wrote is shown as text; nothing here makes markup of a text.
// @ts-check

import { find, lend, shown } from '/login/key.js';
import { follow } from './stream.js';

/** So many transitions are shown. */
const MOST = 100;
/** So long after a transition it is looked again what waits. */
const SETTLED = 200;

const WORDS = {
  live: 'Live.',
  lost: 'The daemon does not answer; trying again.',
  refused: 'This browser is not signed in any more: ask the daemon for another link.',
};

/** @param {string} id @returns {HTMLElement} */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** A line of a list. @param {string | null} at @param {string} text */
function line(at, text) {
  const item = document.createElement('li');
  if (at !== null) {
    const time = document.createElement('time');
    time.dateTime = at;
    time.textContent = new Date(at).toLocaleTimeString();
    item.append(time);
  }
  item.append(text);
  return item;
}

/** Shows the briefs that wait in these repositories. */
export async function showWaiting(repositories, headers) {
  const asked = repositories.map(async ({ id, name }) => {
    const answer = await fetch(`/v1/relay/inbox?repo=${encodeURIComponent(id)}`, { headers });
    const { briefs = [] } = await answer.json();
    return briefs.map(({ brief }) => {
      const about = brief.ticket === null ? '' : ` #${brief.ticket}`;
      return line(brief.submitted_at, `${name} ${brief.worker}/${brief.seq}${about} ${brief.summary}`);
    });
  });
  const lines = (await Promise.all(asked)).flat();
  place('waits').replaceChildren(...(lines.length > 0 ? lines : [line(null, 'Nothing.')]));
}

/** A transition in a line. */
function said({ event, line: { at, ...of } }) {
  const task = of.task === null ? '' : ` ${of.list}/${of.task}`;
  const mail = of.seq === null ? '' : `/${of.seq}`;
  const worker = of.worker === null ? '' : ` ${of.worker}${mail}`;
  return line(at, `${event}${task}${worker} by ${of.actor}`);
}

/** Listens, and shows it. @param {string} key */
async function show(key) {
  const headers = shown(key);
  let repositories = [];
  let settling;
  await follow('/v1/events', headers, {
    state: (word) => {
      place('state').textContent = WORDS[word];
    },
    told: (event) => {
      const data = JSON.parse(event.data);
      if (event.event === 'daemon.resync') {
        repositories = data.repositories;
      } else {
        place('happens').prepend(said(data));
        while (place('happens').childElementCount > MOST) place('happens').lastElementChild?.remove();
      }
      clearTimeout(settling);
      settling = setTimeout(() => showWaiting(repositories, headers).catch(() => {}), SETTLED);
    },
  });
}

const key = await find();
if (key === null) {
  place('state').textContent = WORDS.refused;
} else {
  lend(key);
  await show(key);
}
