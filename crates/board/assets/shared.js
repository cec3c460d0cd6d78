// One stream for all tabs of this browser, since HTTP/1.1 allows six connections.
//
// The tab that holds the lock reads the stream and passes everything on; a tab that joins asks it for the
// state. When the leading tab closes, the next one gets the lock and opens a stream of its own.
// @ts-check

import { follow } from './stream.js';

/** @typedef {import('./stream.js').Word} Word */
/**
 * @typedef {object} Listener
 * @property {(event: string, data: any) => void} told
 * @property {() => void} heard
 * @property {(word: Word) => void} state
 * @property {() => unknown} snapshot the data of a daemon.resync, for a tab that joins
 */

const NAME = 'flagpost-stream';

/** @param {Record<string, string>} headers @param {Listener} listener */
export function listen(headers, listener) {
  const others = new BroadcastChannel(NAME);
  let leads = false;
  /** @type {Word | null} */
  let word = null;
  let hasState = false;

  others.addEventListener('message', ({ data }) => {
    if (data.kind === 'join') {
      if (leads && word !== null) {
        others.postMessage({ kind: 'state', word });
        if (hasState) others.postMessage({ kind: 'told', event: 'daemon.resync', data: JSON.stringify(listener.snapshot()) });
      }
    } else if (!leads) {
      if (data.kind === 'heard') listener.heard();
      if (data.kind === 'state') listener.state(data.word);
      if (data.kind === 'told') {
        hasState ||= data.event === 'daemon.resync';
        if (hasState) listener.told(data.event, JSON.parse(data.data));
      }
    }
  });
  others.postMessage({ kind: 'join' });

  void navigator.locks.request(NAME, async () => {
    leads = true;
    await follow('/v1/events?with=outlines', headers, {
      heard: () => {
        listener.heard();
        others.postMessage({ kind: 'heard' });
      },
      state: (now) => {
        word = now;
        listener.state(now);
        others.postMessage({ kind: 'state', word: now });
      },
      told: (event) => {
        hasState ||= event.event === 'daemon.resync';
        listener.told(event.event, JSON.parse(event.data));
        others.postMessage({ kind: 'told', event: event.event, data: event.data });
      },
    });
  });
}
