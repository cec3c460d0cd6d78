// The scripts of the pages as they are, in a browser that is no more than they need: one window of a tab
// whose cookies and storage are kept here. `node pages.mjs PAGES LINK`; it ends with 0 where all holds.

import assert from 'node:assert/strict';

const [pages, link] = process.argv.slice(2);
const base = new URL(link).origin;
const PATIENCE = 10_000;

async function until(what, holds) {
  const deadline = Date.now() + PATIENCE;
  while (!holds()) {
    assert.ok(Date.now() < deadline, `${what}: ${JSON.stringify(shown())}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** An element: its text and what it holds. */
class Element {
  #own = '';
  children = [];
  get textContent() {
    return this.#own + this.children.map((it) => it.textContent ?? it).join('');
  }
  set textContent(text) {
    this.#own = text;
    this.children = [];
  }
  get childElementCount() {
    return this.children.length;
  }
  append(...more) {
    this.children.push(...more);
  }
  prepend(...more) {
    this.children.unshift(...more);
  }
  replaceChildren(...all) {
    this.children = all;
  }
}

const elements = Object.fromEntries(['told', 'state', 'waits', 'happens'].map((id) => [id, new Element()]));
const shown = () => Object.values(elements).map((it) => it.textContent);
globalThis.document = { getElementById: (id) => elements[id], createElement: () => new Element() };

const kept = new Map();
globalThis.sessionStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, value) => kept.set(name, value),
};

const went = [];
const at = new URL(link);
globalThis.location = {
  get pathname() {
    return at.pathname;
  },
  get hash() {
    return at.hash;
  },
  replace: (path) => went.push(path),
};
globalThis.history = { replaceState: (_state, _title, path) => (at.href = new URL(path, base).href) };

let cookie = '';
const asked = globalThis.fetch;
globalThis.fetch = async (path, { headers = {}, ...rest } = {}) => {
  const own = cookie === '' ? {} : { cookie };
  const answer = await asked(new URL(path, base), { ...rest, headers: { ...headers, ...own } });
  const set = answer.headers.getSetCookie()[0];
  if (set !== undefined) cookie = set.split(';')[0];
  return answer;
};

/** Cut anywhere, a stream is the same events. */
async function streamsAreReadWhereverTheyAreCut() {
  const { Parser } = await import(`${pages}/app/stream.js`);
  const text =
    ':\n\nid: 1\nevent: a\ndata: x\n\nid: 2\r\nevent: b\r\ndata: y\r\ndata:  z\r\n\r\ndata\r\rdata:é:\n\nevent: c\n\n';
  const whole = [
    { id: '1', event: 'a', data: 'x' },
    { id: '2', event: 'b', data: 'y\n z' },
    { id: '2', event: 'message', data: '' },
    { id: '2', event: 'message', data: 'é:' },
  ];
  for (let first = 0; first <= text.length; first += 1) {
    for (let second = first; second <= text.length; second += 1) {
      const parser = new Parser();
      const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      assert.deepEqual(parts.flatMap((part) => parser.feed(part)), whole, `${first} ${second}`);
    }
  }
}

async function aLinkSignsInAndGoesOn() {
  const key = at.hash.slice(1);
  await import(`${pages}/login/login.js`);
  await until('it goes on', () => went.length > 0);
  assert.deepEqual(went, ['/']);
  assert.equal(at.href, `${base}/login/`);
  assert.equal(kept.get('flagpost-key'), key);
  assert.ok(cookie.startsWith('flagpost-') && !cookie.includes(key), cookie);
  assert.equal(elements.told.textContent, '');
}

async function anotherTimeItSaysWhyNot() {
  at.href = link;
  const { signIn } = await import(`${pages}/login/login.js?again`);
  await until('it says why', () => elements.told.textContent !== '');
  assert.match(elements.told.textContent, /no such link/);
  assert.match(await signIn(), /not whole/);
  assert.deepEqual(went, ['/']);
}

async function thePageShowsWhatWaitsAndWhatHappens() {
  void import(`${pages}/app/now.js`);
  await until('it is live', () => elements.state.textContent === 'Live.');
  await until('it shows what waits', () => /web W1\/1 #7 <b>Merge<\/b>/.test(elements.waits.textContent));
  assert.equal(elements.happens.textContent, '');
  const sent = await fetch('/v1/tasks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Flagpost-Key': kept.get('flagpost-key') },
    body: JSON.stringify({ subject: 'Write the parser' }),
  });
  assert.equal(sent.status, 200);
  await until('it shows what happens', () => /task\.created web\/1 by ann/.test(elements.happens.textContent));
}

async function anotherTabIsLentTheKey() {
  const key = kept.get('flagpost-key');
  kept.clear();
  const { find } = await import(`${pages}/login/key.js`);
  assert.equal(await find(), key);
  assert.equal(kept.get('flagpost-key'), key);
}

await streamsAreReadWhereverTheyAreCut();
await aLinkSignsInAndGoesOn();
await anotherTimeItSaysWhyNot();
await thePageShowsWhatWaitsAndWhatHappens();
await anotherTabIsLentTheKey();
// Its stream is open still.
process.exit(0);
