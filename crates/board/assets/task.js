// A task in full: a panel beside the board, a page on a narrow screen.
//
// Its words are asked for when it is opened, and again when the stream says that it changed.
// @ts-check

import { html, useEffect, useRef, useState } from './preact.js';
import { get, Refusal } from './api.js';
import { Input } from './ask.js';
import { History } from './history.js';
import { useKeys } from './keys.js';
import { Why } from './landing.js';
import { Marked, Prose } from './marked.js';
import { go, part, route, toChange, toList, toLog, toTask } from './route.js';
import { canAct, lastOfTask, taskOf } from './state.js';
import { act, changed, fieldsOf, send, verbsOf, VERBS } from './verbs.js';
import { age, left, moment, plain, PRIORITY, STATES } from './words.js';

/** @param {{ list: string, ids: string[], title: string }} of */
function Links({ list, ids, title }) {
  if (ids.length === 0) return null;
  return html`
    <h3>${title}</h3>
    <ul class="links">
      ${ids.map((id) => {
        const task = taskOf(list, id);
        if (task === undefined) return html`<li key=${id} class="dim">#${id} is not in this list</li>`;
        return html`<li key=${id}><span class=${`sign ${task.state}`} role="img" aria-label=${STATES[task.state].word}>${STATES[task.state].sign}</span> <a href=${toTask(list, id)}>#${id} ${plain(task.subject)}</a></li>`;
      })}
    </ul>
  `;
}

/** A value of the metadata, readable at any depth. @param {{ value: unknown }} of @returns {unknown} */
function Value({ value }) {
  if (Array.isArray(value)) return html`<ul>${value.map((it, n) => html`<li key=${n}><${Value} value=${it} /></li>`)}</ul>`;
  if (value !== null && typeof value === 'object') {
    return html`<dl>${Object.entries(value).map(([name, it]) => html`<div key=${name}><dt>${plain(name)}</dt><dd><${Value} value=${it} /></dd></div>`)}</dl>`;
  }
  return html`<${Marked} text=${String(value)} />`;
}

/** A question that was answered, with its answer. @param {{ of: FullTask['notes'][number] }} of */
const Answered = ({ of: { by, at, text, question } }) => html`<li>
  ${question !== null && html`<p class="dim">${plain(question.by ?? 'somebody')} asked · ${moment(question.at)}</p>${question.text === '' ? html`<p class="dim">No words were given.</p>` : html`<${Prose} text=${question.text} />`}`}
  <p class="dim">${plain(by ?? 'unknown')} answered · ${moment(at)}</p><${Prose} text=${text} /></li>`;

/** What is said of a task, changed in place. @param {{ list: string, task: Task, description: string, close: () => void }} of */
function Editor({ list, task, description, close }) {
  const [fields] = useState(() => fieldsOf(task, description));
  const place = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => place.current?.querySelector('input')?.focus(), []);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const body = changed(fields, Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget))));
    if (Object.keys(body).length === 0 || (await send('edit', list, task, { as: () => null, body }))) close();
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) place.current?.requestSubmit();
  };
  return html`
    <form ref=${place} class="editor" aria-label="Edit the task" onSubmit=${submit} onKeyDown=${press}>
      ${fields.map((field) => html`<label key=${field.name}><span>${field.label}</span><${Input} field=${field} /></label>`)}
      <p class="verbs"><button class="main" disabled=${!canAct.value}>Save <kbd>Ctrl Enter</kbd></button><button type="button" onClick=${close}>Cancel <kbd>Esc</kbd></button></p>
    </form>
  `;
}

export function TaskPage() {
  const { list, task: id } = route.value;
  if (list === null || id === null) return null;
  const task = taskOf(list, id);
  const [full, setFull] = useState(/** @type {FullTask | null} */ (null));
  const [fault, setFault] = useState('');
  const [editing, setEditing] = useState('');
  const isEditing = editing === id;
  const [moved, setMoved] = useState(0);
  const close = () => go(toList(list));
  // What its outline does not have is in the history: a note, an answer.
  useEffect(() => lastOfTask.subscribe((it) => it?.list === list && it.task === id && setMoved((n) => n + 1)), [list, id]);
  useEffect(() => {
    let isHere = true;
    get(`/v1/tasks/${part(list)}/${part(id)}`)
      .then((now) => isHere && (setFull(now), setFault('')))
      .catch((/** @type {Refusal} */ it) => isHere && setFault(it.message));
    return () => {
      isHere = false;
    };
  }, [list, id, task, moved]);
  const words = full?.id === id ? full : null;
  /** @param {import('./verbs.js').Verb} verb @param {Task} of */
  const run = (verb, of) => {
    if (verb === 'edit' && words !== null) setEditing(id);
    else void act(verb, list, of);
  };
  const hasLog = task !== undefined && (task.attempts > 0 || task.claim?.session != null);
  const log = toLog(list, id);
  const hasWork = words?.landing == null ? hasLog : words.landing.no_commit === null;
  useKeys('This task', () => [
    { key: 'Escape', shown: 'Esc', does: 'close', run: close },
    ...(hasLog ? [{ key: 'L', does: 'the log of its agent', run: () => go(log) }] : []),
    ...(hasWork ? [{ key: 'v', does: 'its diff', run: () => go(toChange(list, id)) }] : []),
    ...(task === undefined ? [] : verbsOf(task).map((verb) => ({ key: VERBS[verb].key, does: VERBS[verb].label, run: () => run(verb, task) }))),
  ], [list, id, task, words]);
  if (task === undefined) {
    return html`<article class="task"><p class="back"><button type="button" onClick=${close}>Close</button></p><h1>There is no task ${id}</h1><p>${fault}</p></article>`;
  }
  const { sign, word } = STATES[task.state];
  const notes = Object.groupBy(words?.notes ?? [], ({ kind }) => kind);
  const rest = left(task.claim?.expires_at);
  const facts = [
    ['Priority', task.priority === null ? null : `${PRIORITY[task.priority]} ${task.priority}`],
    ['Group', task.group], ['Project', task.project], ['Complexity', task.complexity],
    ['Tags', task.tags.join(', ') || null], ['Due', task.due], ['Not before', task.not_before],
    ['Estimate', task.estimate_minutes === null ? null : `${task.estimate_minutes} min`],
    ['Attempts', task.attempts === 0 ? null : String(task.attempts)],
    ['Added', moment(task.added_at)], ['Ended', moment(task.ended_at)],
  ].filter(([, value]) => value);
  return html`
    <article class="task" aria-labelledby="subject">
      <p class="back"><button type="button" onClick=${close}>Close <kbd>Esc</kbd></button></p>
      <h1 id="subject"><span class="dim">#${id}</span> ${plain(task.subject)}</h1>
      <p><span class=${`badge ${task.state}`}><span aria-hidden="true">${sign}</span> ${word}</span>${task.state === 'pending' && !task.ready && ' blocked'}${task.claim !== null && html` ${plain(task.claim.by)} <span class="dim">since ${age(task.claim.at)} · ${rest === null ? 'lease over' : `lease ${rest}`}</span>`}</p>
      <p class="verbs">${verbsOf(task).map((verb) => html`<button key=${verb} type="button" disabled=${!canAct.value} onClick=${() => run(verb, task)}>${VERBS[verb].label} <kbd>${VERBS[verb].key}</kbd></button>`)}</p>
      ${(hasLog || hasWork) && html`<p>${hasLog && html`<a class="to-log" href=${log}>Log of its agent <kbd>L</kbd></a>`}${hasWork && html`<a class="to-log" href=${toChange(list, id)}>Diff <kbd>v</kbd></a>`}</p>`}
      ${isEditing && words !== null && html`<${Editor} key=${id} list=${list} task=${task} description=${words.description} close=${() => setEditing('')} />`}
      ${words?.result != null && html`<section><h2>${{ stuck: 'Its question', failed: 'Why it failed', completed: 'How it ended' }[words.result.ending] ?? words.result.ending}</h2><${Prose} text=${words.result.text || 'No words were given.'} /><p class="dim">${plain(words.result.by)} · ${moment(words.result.at)}</p></section>`}
      ${words?.landing != null && html`<section><h2>Landing</h2>${words.landing.no_commit !== null ? html`<p>It passed without a commit · ${moment(words.landing.no_commit)}</p>` : words.landing.landed !== null ? html`<p>Landed on ${plain(words.landing.landed.onto)} as <code>${words.landing.landed.commit.slice(0, 10)}</code> · ${moment(words.landing.landed.at)}</p>` : words.landing.approved !== null ? html`<p>Approved by ${plain(words.landing.approved.by)} at <code>${words.landing.approved.commit.slice(0, 10)}</code> · ${moment(words.landing.approved.at)}</p>` : html`<${Why} title=${words.landing.refused?.by == null ? `It did not land on ${plain(words.landing.refused?.onto ?? '')}` : `Returned by ${plain(words.landing.refused.by)}`} why=${words.landing.refused?.why ?? ''} />`}</section>`}
      ${words !== null && words.description !== '' && !isEditing && html`<section><h2>Description</h2><${Prose} text=${words.description} /></section>`}
      ${(task.blocked_by.length > 0 || task.blocks.length > 0) && html`<section><h2>Dependencies</h2><${Links} list=${list} ids=${task.blocked_by} title="Waits for" /><${Links} list=${list} ids=${task.blocks} title="Blocks" /></section>`}
      ${notes.answer !== undefined && html`<section><h2>Questions and answers</h2><ol class="notes">${notes.answer.map((it, n) => html`<${Answered} key=${n} of=${it} />`)}</ol></section>`}
      ${notes.note !== undefined && html`<section><h2>Notes</h2><ol class="notes">${notes.note.map((it, n) => html`<li key=${n}><p class="dim">${plain(it.by ?? 'unknown')} · ${moment(it.at)}</p><${Prose} text=${it.text} /></li>`)}</ol></section>`}
      ${words !== null && words.late.length > 0 && html`<section><h2>Late results</h2>${words.late.map((it, n) => html`<div key=${n}><p class="dim">${it.ending} · ${plain(it.by)} · ${moment(it.at)}</p><${Prose} text=${it.text} /></div>`)}</section>`}
      ${facts.length > 0 && html`<section><h2>Facts</h2><dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${plain(String(value))}</dd></div>`)}</dl></section>`}
      ${words !== null && Object.keys(words.metadata).length > 0 && html`<section><h2>Metadata</h2><${Value} value=${words.metadata} /></section>`}
      <${History} key=${id} list=${list} id=${id} moved=${task} line=${moved} />
      ${fault !== '' && html`<p class="warn">${fault}</p>`}
    </article>
  `;
}
