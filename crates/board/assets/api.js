// Requests to the daemon: each shows the key. An answer that is an error is thrown as a Refusal.
// @ts-check

import { shown } from '/login/key.js';

/** @type {Record<string, string>} */
export let headers = {};

/** @param {string} key */
export function use(key) {
  headers = shown(key);
}

export class Refusal extends Error {
  /** @param {number} status @param {string} message @param {string | null} hint */
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** @param {string} path @param {RequestInit} how @returns {Promise<any>} */
async function ask(path, how) {
  let answer;
  try {
    answer = await fetch(path, how);
  } catch {
    throw new Refusal(0, 'The daemon does not answer.', null);
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  throw new Refusal(answer.status, said.message ?? `The daemon answered ${answer.status}.`, said.hint ?? null);
}

/** A path with its query; what is null is left out. @param {string} path @param {Record<string, string | null | undefined>} query */
export function withQuery(path, query) {
  const said = Object.entries(query).filter(([, value]) => value != null && value !== '');
  const text = new URLSearchParams(/** @type {[string, string][]} */ (said)).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** @param {string} path @param {Record<string, string | null | undefined>} [query] @param {AbortSignal | null} [signal] */
export const get = (path, query = {}, signal = null) => ask(withQuery(path, query), { headers, signal });

/** @param {string} path @param {object} body @param {Record<string, string | null | undefined>} [query] */
export const post = (path, body, query = {}) =>
  ask(withQuery(path, query), {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
