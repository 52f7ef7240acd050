// The end of a loop that has a connection of its own.

import { GOODBYE_MS, type Link, within } from '../../libs/store/index.js';

/**
 * Waits until a loop that was told to stop has ended, and closes its connection. A loop that waits for the answer of a silent
 * server is cut off after this long: what it was doing has an unknown outcome then, as after any loss of a connection.
 */
export async function endLoop(finished: Promise<void>, link: Link, withinMs = GOODBYE_MS): Promise<void> {
  const hasEnded = await within(finished, withinMs);
  await link.close(hasEnded ? GOODBYE_MS : 0);
  await finished;
}
