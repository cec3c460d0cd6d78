// The filter of tasks: words, and `field:value`. A minus before a term turns it round.
// @ts-check

/** @typedef {(task: Task) => boolean} Keep */

/** @type {Record<string, (task: Task) => (string | null)[]>} */
const FIELDS = {
  id: (task) => [task.id],
  state: (task) => [task.state, task.state === 'in_progress' ? 'running' : null],
  owner: (task) => [task.owner, task.claim?.by ?? null],
  group: (task) => [task.group],
  project: (task) => [task.project],
  priority: (task) => [task.priority],
  tag: (task) => task.tags,
  parent: (task) => [task.parent],
  due: (task) => [task.due],
  is: (task) => [task.state === 'pending' ? (task.ready ? 'ready' : 'blocked') : null],
};
export const FIELD_NAMES = Object.keys(FIELDS);

/** The terms of a filter; a value may be quoted. @param {string} text */
export const termsOf = (text) => text.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|\S+)/g) ?? [];

/** @param {string} text @returns {Keep} */
export function keepOf(text) {
  const terms = termsOf(text).map(term);
  return (task) => terms.every((keep) => keep(task));
}

/** @param {string} said @returns {Keep} */
function term(said) {
  const isNot = said.startsWith('-') && said.length > 1;
  const bare = isNot ? said.slice(1) : said;
  const at = bare.indexOf(':');
  const field = FIELDS[bare.slice(0, at)];
  const value = (field === undefined ? bare : bare.slice(at + 1)).replaceAll('"', '').toLowerCase();
  /** @type {Keep} */
  const keep =
    field !== undefined
      ? (task) => field(task).some((it) => it?.toLowerCase() === value)
      : (task) => task.subject.toLowerCase().includes(value) || `#${task.id}` === value;
  return isNot ? (task) => !keep(task) : keep;
}
