// One request and its answer, exactly as a test says them: no header is added, no redirect followed.

import { request } from 'node:http';
import { PATIENCE } from './patience.mjs';

/** The answer: its status, its headers and its text, which is read as JSON where that is asked for. */
export function ask({ body, headers = {}, ...where }) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const kind = typeof body === 'object' ? { 'content-type': 'application/json' } : {};
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
    const asked = request({ ...where, agent: false, headers: { ...kind, ...length, ...headers } }, (answer) => {
      let told = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => (told += part));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode,
          headers: answer.headers,
          text: told,
          get json() {
            return JSON.parse(told);
          },
        }),
      );
    });
    asked.setTimeout(PATIENCE, () => asked.destroy(new Error(`no answer: ${where.path}`)));
    asked.on('error', reject);
    asked.end(text);
  });
}

/** A stream of events that is listened to: what has come so far, and whether it has ended. `close` ends it. */
export function listen({ headers = {}, ...where }) {
  return new Promise((resolve, reject) => {
    const asked = request({ ...where, agent: false, headers }, (answer) => {
      const stream = { status: answer.statusCode, headers: answer.headers, text: '', ended: false, close: () => asked.destroy() };
      answer.setEncoding('utf8');
      answer.on('data', (part) => (stream.text += part));
      answer.on('error', () => {});
      answer.on('close', () => (stream.ended = true));
      resolve(stream);
    });
    asked.setTimeout(PATIENCE, () => asked.destroy(new Error(`a silent stream: ${where.path}`)));
    asked.on('error', reject);
    asked.end();
  });
}
