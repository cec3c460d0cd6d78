// A server on another port of 127.0.0.1: whatever an agent or another user of the machine has started.
//
// Owns its pages, and what browsers have sent to it.

import { createServer } from 'node:http';

/** Serves these pages, `path: html` or `path: [headers, html]`; `heard` is each request's path and headers. */
export async function elsewhere(t, pages = {}) {
  const heard = [];
  const server = createServer((request, response) => {
    heard.push({ path: request.url, headers: request.headers });
    const page = pages[request.url];
    const [headers, html] = Array.isArray(page) ? page : [{}, page];
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(html ?? '');
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  const { port } = server.address();
  return { heard, port, http: `http://127.0.0.1:${port}`, localhost: `http://localhost:${port}` };
}
