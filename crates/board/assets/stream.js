// Events as they happen, read with fetch: an EventSource cannot show the key.
// @ts-check

/** @typedef {{ id: string, event: string, data: string }} Event */

/** Text of a stream as its events; it may be cut anywhere. */
export class Parser {
  #rest = '';
  #id = '';
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
    if (name === 'id') this.#id = value;
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    return [];
  }

  /** @returns {Event[]} */
  #end() {
    const told = { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
    const isSaid = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return isSaid ? [told] : [];
  }
}

/** Waits so long before it comes again: 1, 2, 4, 8 s. @param {number} tries */
const pause = (tries) =>
  new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** Math.min(tries, 3)));

/**
 * Listens until it is refused, and comes again after whatever else; it is told all that it missed.
 * @param {string} path
 * @param {Record<string, string>} headers
 * @param {{ told: (event: Event) => void, state: (word: 'live' | 'lost' | 'refused') => void }} listener
 */
export async function follow(path, headers, { told, state }) {
  let last = '';
  for (let tries = 0; ; tries += 1) {
    try {
      const since = last === '' ? {} : { 'Last-Event-ID': last };
      const answer = await fetch(path, { headers: { ...headers, ...since } });
      if (answer.status === 401 || answer.status === 403) return state('refused');
      if (answer.ok && answer.body !== null) {
        state('live');
        tries = 0;
        const parser = new Parser();
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          for (const event of parser.feed(part.value)) {
            told(event);
            last = event.id || last;
          }
        }
      }
    } catch {
      // It is cut off, or there is no daemon: the same.
    }
    state('lost');
    await pause(tries);
  }
}
