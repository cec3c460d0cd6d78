// Makes a session of a link that was followed, and goes on to the page.
//
// The page goes on by itself because a redirect would lose the cookie where the link was followed from
// another site's page. The key leaves the address at once.
// @ts-check

import { keep, placeBefore, shown, tell } from './key.js';

/** Where the page is once its link is used: it can be loaded there again. */
const USED = '/login/used';

/** Signs in with the link at this address; what there is to say where that fails, else null. */
export async function signIn() {
  if (location.pathname === USED) return 'This link was used, or is too old.';
  const code = location.pathname.split('/').pop();
  // Behind the key stands what the page is to show.
  const [key = '', ...where] = location.hash.slice(1).split('&');
  history.replaceState(null, '', USED);
  if (key === '') return 'This link is not whole: the part behind # is missing.';
  let answer;
  try {
    answer = await fetch('/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...shown(key) },
      body: JSON.stringify({ code }),
    });
  } catch {
    return 'The daemon does not answer.';
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    return told.message ?? `The daemon answered ${answer.status}.`;
  }
  keep(key);
  tell(key);
  location.replace(location.origin + (placeBefore() ?? `/${where.length > 0 ? `#${where.join('&')}` : ''}`));
  return null;
}

const fault = await signIn();
const told = document.getElementById('told');
if (fault !== null) {
  if (told !== null) told.textContent = fault;
  document.getElementById('how')?.removeAttribute('hidden');
}
