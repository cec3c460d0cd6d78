// The page's half of a session: the key.
//
// It came in the fragment of the link, which no browser sends, and is kept for this origin only, port
// included. A tab that has none asks the others.
// @ts-check

const NAME = 'flagpost-key';
const PLACE = 'flagpost-place';
/** So long another tab may take to answer. */
const PATIENCE = 300;

/** Keeps the key for as long as this tab lives. @param {string} key */
export function keep(key) {
  sessionStorage.setItem(NAME, key);
}

/** The headers that show it. @param {string} key */
export function shown(key) {
  return { 'Flagpost-Key': key };
}

/** Gives a new key to the tabs that wait for one. @param {string} key */
export function tell(key) {
  new BroadcastChannel(NAME).postMessage({ key });
}

/** Notes where this tab is, and loads it again there as soon as another tab has a key. */
export function waitForKey() {
  sessionStorage.removeItem(NAME);
  sessionStorage.setItem(PLACE, location.pathname + location.hash);
  new BroadcastChannel(NAME).addEventListener('message', ({ data }) => {
    if (typeof data?.key !== 'string') return;
    keep(data.key);
    location.reload();
  });
}

/** Where this tab was when it had no key; once. Null where it was nowhere. */
export function placeBefore() {
  const place = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  return place;
}

/** Gives the key to each tab that asks. @param {string} key */
export function lend(key) {
  const others = new BroadcastChannel(NAME);
  others.addEventListener('message', ({ data }) => {
    if (data === 'who has it?') others.postMessage({ key });
  });
  return others;
}

/** The key of this tab, else that of another; null where none has it. @returns {Promise<string | null>} */
export async function find() {
  const kept = sessionStorage.getItem(NAME);
  if (kept !== null) return kept;
  const others = new BroadcastChannel(NAME);
  const told = new Promise((resolve) => {
    others.addEventListener('message', ({ data }) => {
      if (typeof data?.key === 'string') resolve(data.key);
    });
    setTimeout(() => resolve(null), PATIENCE);
  });
  others.postMessage('who has it?');
  const key = await told;
  others.close();
  if (key !== null) keep(key);
  return key;
}
