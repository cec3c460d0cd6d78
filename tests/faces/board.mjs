// The board as a test sees it: its columns and cards, and what is said aloud.

import { drawn, enter } from './browser.mjs';

/** A column of the board: ready, claimed, running, needs, done. */
export const column = (page, lane) => page.locator(`section[data-lane="${lane}"]`);
/** The card of a task, in this column where one is named. */
export const card = (page, id, lane) => (lane === undefined ? page : column(page, lane)).locator(`a[data-id="${id}"]`);
/** What a screen reader is told. */
export const aloud = (page, text) => page.locator('[aria-live]').filter({ hasText: text });

/** The board of a list, for somebody who is signed in. */
export async function openBoard(context, world, path = '/lists/web') {
  const page = await enter(context, world, path);
  await page.locator('a[data-id]').first().waitFor();
  return page;
}

/** Waits until what is shown can be decided on: its end was in sight, and the keys are there. */
export async function decidable(page, verb = 'Approve') {
  await page.locator('button[aria-disabled=false]').filter({ hasText: verb }).waitFor();
  await drawn(page);
}

/** The state of a task, as the daemon tells it. */
export const stateOf = async (world, id) => (await world.get(`/v1/tasks/web/${id}`)).json.state;

/** Drags a card with the pointer to a column; it is held there until `release`. */
export async function drag(page, id, lane) {
  const from = await card(page, id).boundingBox();
  const to = await column(page, lane).boundingBox();
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + from.width / 2 + 12, from.y + from.height / 2, { steps: 2 });
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 8 });
  return { release: () => page.mouse.up() };
}
