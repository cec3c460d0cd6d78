// Events of the daemon, read with fetch: an EventSource cannot show the key.
//
// Owns one connection and its reconnects. It knows no event by name.
// @ts-check

/** @typedef {{ event: string, data: string }} Event */
/** @typedef {'live' | 'lost' | 'refused'} Word */

/** A stream that says nothing for so long, not even a comment, is cut off. */
const SILENCE = 40_000;

/** Text of a stream as its events; it may be cut anywhere. */
export class Parser {
  #rest = '';
  #event = '';
  /** @type {string[]} */
  #data = [];

  /** What is complete with this. @param {string} text @returns {Event[]} */
  feed(text) {
    // A CR at the end may be half of a CR LF.
    const whole = this.#rest + text;
    const cut = whole.endsWith('\r') ? whole.length - 1 : whole.length;
    const lines = whole.slice(0, cut).split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() ?? '') + whole.slice(cut);
    return lines.flatMap((line) => this.#line(line));
  }

  /** @param {string} line @returns {Event[]} */
  #line(line) {
    if (line === '') return this.#end();
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    return [];
  }

  /** @returns {Event[]} */
  #end() {
    const told = { event: this.#event || 'message', data: this.#data.join('\n') };
    const isSaid = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return isSaid ? [told] : [];
  }
}

/** @type {(() => void) | null} */
let hurry = null;

/** Ends the pause before the next try. */
export const tryNow = () => hurry?.();

/** Waits about 1, 2, 4, 8 s before the next try. @param {number} tries */
function pause(tries) {
  const time = 1000 * 2 ** Math.min(tries, 3) * (0.8 + 0.4 * Math.random());
  return new Promise((resolve) => {
    hurry = () => resolve(undefined);
    setTimeout(resolve, time);
  });
}

/**
 * Listens until it is refused, and comes again after every other end. Each stream begins with the state.
 * @param {string} path
 * @param {Record<string, string>} headers
 * @param {{ told: (event: Event) => void, heard: () => void, state: (word: Word) => void }} listener
 */
export async function follow(path, headers, { told, heard, state }) {
  for (let tries = 0; ; tries += 1) {
    const cut = new AbortController();
    let heardAt = 0;
    let watch = setTimeout(() => cut.abort(), SILENCE);
    try {
      const answer = await fetch(path, { headers, signal: cut.signal });
      if (answer.status === 401 || answer.status === 403) return state('refused');
      if (answer.ok && answer.body !== null) {
        state('live');
        tries = 0;
        const parser = new Parser();
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          clearTimeout(watch);
          watch = setTimeout(() => cut.abort(), SILENCE);
          if (Date.now() - heardAt >= 1000) {
            heardAt = Date.now();
            heard();
          }
          for (const event of parser.feed(part.value)) told(event);
        }
      }
    } catch {
      // Cut off, or no daemon: the same.
    }
    clearTimeout(watch);
    state('lost');
    await pause(tries);
  }
}
