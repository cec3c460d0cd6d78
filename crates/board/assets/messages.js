// Messages: conversations on the left, one of them on the right, with how far each message is.
// @ts-check

import { html } from './preact.js';
import { useAskedOfAll } from './asked.js';
import { Prose } from './marked.js';
import { route, to } from './route.js';
import { mailMoved } from './state.js';
import { age, count, plain, saying } from './words.js';

/** The conversation of a message; one outside any is named by its worker. @param {Message} of */
const threadOf = ({ message }) => message.thread ?? `with ${message.place.split('/')[0]}`;

export function Messages() {
  /** @type {Message[] | undefined} */
  const messages = useAskedOfAll('/v1/messages', mailMoved.value)?.flatMap(({ answer }) => answer.messages);
  const chosen = route.value.query.get('thread');
  const threads = Map.groupBy(messages ?? [], threadOf);
  const shown = chosen ?? [...threads.keys()].at(-1) ?? '';
  return html`
    <main id="main" tabindex="-1" class=${chosen === null ? 'inbox' : 'inbox open'} aria-busy=${messages === undefined}>
      <h1 class="unseen">Messages</h1>
      <section class="waiting" aria-labelledby="threads">
        <h2 id="threads">${count(messages?.length ?? 0, 'message')}</h2>
        ${messages?.length === 0 && html`<p>No message yet.</p>`}
        <ul>
          ${[...threads].reverse().map(([name, all]) => html`
            <li key=${name}><a href=${`${to('messages')}&thread=${encodeURIComponent(name)}`} aria-current=${name === shown ? 'true' : undefined}>
              <span class="title">${plain(name)}</span> <span class="dim">${all.length} · ${age(all.at(-1)?.message.at)}</span></a></li>
          `)}
        </ul>
      </section>
      <section class="item" aria-label="The conversation">
        <p class="back"><a href=${to('messages')}>‹ Messages</a></p>
        ${(threads.get(shown) ?? []).map(({ message, state }) => html`
          <article key=${message.place} class="message">
            <h2>${plain(message.subject ?? message.title ?? '')} <span class="dim">${plain(message.from)} → ${plain(message.to)}</span></h2>
            <p class="dim">${message.place} · ${age(message.at)} ago · <b>${state}</b></p>
            <${Prose} text=${saying(message.body)} />
          </article>
        `)}
      </section>
    </main>
  `;
}
