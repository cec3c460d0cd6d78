// The log of a task's agent: its end, and what comes, as long as somebody looks; earlier lines in parts.
//
// It asks only while it is open, seen, followed and connected; each request waits for more, and ends with
// the screen. Attempt, follow, wrap and filter are chosen apart: none resets another.
// @ts-check

import { html, signal, useEffect, useLayoutEffect, useRef, useState } from './preact.js';
import { get } from './api.js';
import { useAsked } from './asked.js';
import { useKeys } from './keys.js';
import { fail } from './notices.js';
import { Printed } from './printed.js';
import { back, go, part, route, to, toRun, toTask, withParts } from './route.js';
import { canAct, repositoryOf, runMoved, taskOf } from './state.js';
import { plain } from './words.js';

/** @typedef {{ attempt: number, session: string, agent: string | null, from: number, to: number, over: boolean }} Head */

/** Whether the page is seen at all. */
const isSeen = signal(!document.hidden);
document.addEventListener('visibilitychange', () => {
  isSeen.value = !document.hidden;
});
/** So long between two requests of an agent that prints without pause, unless there is much to catch up. */
const PAUSE = 300;
const MUCH = 20_000;

/** What was printed so far, asked for while it is wanted. @param {{ list: string, task: string, session: string | null, attempt: string | null, isFollowing: boolean }} of */
function usePrinted({ list, task, session, attempt, isFollowing }) {
  const which = `${session} ${attempt}`;
  const [fault, setFault] = useState('');
  const [, draw] = useState(0);
  const kept = useRef({ which: '', printed: new Printed(), head: /** @type {Head | null} */ (null) });
  if (kept.current.which !== which || (isFollowing && kept.current.printed.isBehind)) kept.current = { which, printed: new Printed(), head: null };
  const at = kept.current;
  const path = `/v1/tasks/${part(list)}/${part(task)}/log`;
  const isWanted = isSeen.value && canAct.value && at.head?.over !== true && (isFollowing || at.head === null);
  const moved = runMoved.value;
  useEffect(() => {
    if (!isWanted) return;
    const cut = new AbortController();
    const read = async () => {
      // What was refused is asked for again once the run has moved, and rests.
      if (fault !== '') await new Promise((done) => setTimeout(done, PAUSE));
      for (let isFirst = at.head === null; !cut.signal.aborted; isFirst = false) {
        const pinned = at.head === null ? { session, attempt } : { session: at.head.session, attempt: String(at.head.attempt), from: String(at.head.to) };
        const told = await get(path, { ...pinned, wait: isFirst ? null : '30s' }, cut.signal);
        if (cut.signal.aborted) return;
        setFault('');
        const { text = '', ...head } = told;
        if (head.to !== undefined) {
          at.printed.feed(text, head.from);
          at.head = head;
          draw((n) => n + 1);
          if (head.over) return;
        }
        if (text.length < MUCH) await new Promise((done) => setTimeout(done, PAUSE));
      }
    };
    read().catch((/** @type {Error} */ it) => !cut.signal.aborted && setFault(it.message));
    return () => cut.abort();
  }, [list, task, which, isWanted, fault !== '' && moved]);
  /** What was printed before: `seen` is told when it is there, and not yet shown. @param {() => void} seen */
  const readBefore = async (seen) => {
    if (at.head === null) return;
    const { session, attempt } = at.head;
    const { text = '', from = 0 } = await get(path, { session, attempt: String(attempt), before: String(at.printed.from) });
    seen();
    if (text !== '') at.printed.feedBefore(text, from);
    draw((n) => n + 1);
  };
  return { ...at, fault, readBefore };
}

/** @param {{ list: string, task: string, session: string | null }} of */
export function Log({ list, task, session }) {
  const attempt = route.value.query.get('attempt');
  const [isFollowing, setFollowing] = useState(true);
  const [isWrapped, setWrapped] = useState(true);
  const [sought, setSought] = useState('');
  const { printed, head, fault, readBefore } = usePrinted({ list, task, session, attempt, isFollowing });
  const name = head?.session ?? session;
  const repo = route.value.repo ?? repositoryOf(list)?.id ?? '';
  const { answer: times } = useAsked(name === null ? '' : `/v1/sessions/${part(name)}/timeline?repo=${repo}`);
  const told = /** @type {import('./timeline.js').Times | null} */ (times)?.tasks.find(({ id }) => id === task);
  const shown = String(head?.attempt ?? attempt ?? '');
  const attempts = [...new Set([...(told?.attempts ?? []).map((it) => String(it.attempt)), shown])].filter((it) => it !== '').sort((a, b) => Number(a) - Number(b));
  const choose = (/** @type {string} */ to) => go(withParts({ attempt: to }), true);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const top = useRef(0);
  // The line that was the first, and how far it was from the top: there it stays.
  const anchor = useRef(/** @type {{ line: HTMLElement, at: number } | null} */ (null));
  useLayoutEffect(() => {
    const { current: it } = box;
    if (it === null) return;
    if (isFollowing) it.scrollTop = it.scrollHeight;
    else if (anchor.current !== null) it.scrollTop = anchor.current.line.offsetTop - anchor.current.at;
    anchor.current = null;
    top.current = it.scrollTop;
  });
  const isReading = useRef(false);
  const earlier = () => {
    if (isReading.current || printed.from === 0 || !canAct.peek()) return;
    isReading.current = true;
    setFollowing(false);
    const seen = () => {
      const line = box.current?.querySelector('.log > div');
      if (line instanceof HTMLElement && box.current !== null) anchor.current = { line, at: line.offsetTop - box.current.scrollTop };
    };
    void readBefore(seen).catch(fail).finally(() => (isReading.current = false));
  };
  const scrolled = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    const isUp = scrollTop < top.current && scrollHeight - scrollTop - clientHeight > 2;
    top.current = scrollTop;
    if (isUp) setFollowing(false);
  };
  useKeys('Log', () => [
    { key: 'f', does: 'follow, or not', run: () => setFollowing((it) => !it) },
    { key: 'w', does: 'wrap long lines, or not', run: () => setWrapped((it) => !it) },
    { key: 'b', does: 'earlier lines', run: earlier },
    { key: '/', does: 'filter', run: () => document.getElementById('sought')?.focus() },
    { key: 'Escape', shown: 'Esc', does: 'back', run: back },
  ], [printed, printed.from]);
  const subject = taskOf(list, task)?.subject ?? told?.subject ?? '';
  const next = attempts[attempts.indexOf(shown) + 1];
  const found = sought === '' ? printed.lines : printed.lines.filter(({ text }) => text.includes(sought.toLowerCase()));
  const value = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).value;
  return html`
    <main id="main" tabindex="-1" class="page wide of-log" aria-busy=${head === null && fault === ''}>
      <p class="back shown">${name === null ? html`<a href=${to('run')}>‹ Runs</a>` : html`<a href=${toRun(repo, name)}>‹ ${name}</a>`}</p>
      <h1>Log of <a href=${toTask(list, task)}>#${task} ${plain(subject)}</a></h1>
      <div class="choices">
        ${attempts.length > 0 && html`<label>Attempt <select value=${shown} onChange=${(/** @type {Event} */ event) => choose(value(event))}>${attempts.map((it) => html`<option key=${it} value=${it} selected=${it === shown}>${it}</option>`)}</select></label>`}
        <label><input type="checkbox" checked=${isFollowing} onChange=${() => setFollowing(!isFollowing)} /> Follow <kbd>f</kbd></label>
        <label><input type="checkbox" checked=${isWrapped} onChange=${() => setWrapped(!isWrapped)} /> Wrap <kbd>w</kbd></label>
        <label class="grow"><span class="unseen">Filter</span><input id="sought" type="search" placeholder="Filter: lines with these words" value=${sought} onInput=${(/** @type {Event} */ event) => setSought(value(event))} /></label>
        <span class="dim">${sought !== '' && `${found.length} of ${printed.lines.length} lines`}</span>
      </div>
      <div ref=${box} class=${isWrapped ? 'log wrapped' : 'log'} tabindex="0" role="region" aria-label="What the agent printed" onScroll=${scrolled}>
        ${printed.from > 0 && html`<p><button type="button" disabled=${!canAct.value} onClick=${earlier}>Earlier lines <kbd>b</kbd></button></p>`}
        ${printed.lines.length === 0 && html`<p class="dim">${fault !== '' ? fault : head?.over ? 'It printed nothing.' : 'Nothing was printed yet.'}</p>`}
        ${found.map(({ shown: line }) => line)}
      </div>
      <p class="of-end">
        ${fault !== '' ? printed.lines.length > 0 && html`<span class="warn">${fault}</span>` : html`<span class="dim">${head?.over ? '── the end' : !canAct.value ? '◌ not connected' : isFollowing ? '◐ following' : 'not following'}${head?.agent != null && ` · ${plain(head.agent)}`}</span>`}
        ${head?.over && next !== undefined && html`<button type="button" onClick=${() => choose(next)}>Attempt ${next} ›</button>`}
        ${!isFollowing && html`<button type="button" onClick=${() => setFollowing(true)}>To the end ↓</button>`}
      </p>
    </main>
  `;
}
