// Removes states that no run needs any more from the snapshot store.

import { type DiscardedSnapshot, forgetDiscardedSnapshots, putOffDiscardedSnapshots, type Runner } from '../../store/index.js';
import type { SnapshotStore } from './snapshot-store.js';

const AT_ONCE = 8;
const RETRY_MS = 600_000;

/** Removes states, a few at a time, and notes that they are gone. One that cannot be removed now is tried again later. Returns how many are gone. */
export async function removeDiscarded(
  db: Runner,
  store: SnapshotStore,
  discarded: readonly DiscardedSnapshot[],
  failed: (error: unknown) => void,
): Promise<number> {
  let count = 0;
  for (let from = 0; from < discarded.length; from += AT_ONCE) {
    const batch = discarded.slice(from, from + AT_ONCE);
    const results = await Promise.allSettled(batch.map(({ ref }) => store.remove(ref)));
    const isGone = (_: unknown, index: number) => results[index].status === 'fulfilled';
    const gone = batch.filter(isGone);
    count += gone.length;
    await forgetDiscardedSnapshots(db, gone);
    await putOffDiscardedSnapshots(
      db,
      batch.filter((_, index) => !isGone(_, index)),
      RETRY_MS,
    );
    for (const result of results) if (result.status === 'rejected') failed(result.reason);
  }
  return count;
}
