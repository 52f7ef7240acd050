// Erases what is stored of a subject: one run, or all runs with a tag.

import { removeDiscarded, type SnapshotStore } from '../../libs/engine/index.js';
import {
  discardedSnapshotsOf,
  type ErasedExecution,
  eraseExecution,
  findEraseRefusal,
  findTagged,
  getExecutions,
  isEnded,
  retrying,
  type Store,
} from '../../libs/store/index.js';
import { EraseRefusedError } from '../errors.js';

/** What was erased. */
export interface Erased {
  /** Runs, with their steps. */
  executions: number;
  /** What removed runs had left behind. */
  tombstones: number;
  /** States outside the database that are gone from the snapshot store. */
  snapshots: number;
  /** States that a worker with the snapshot store has yet to remove: this process has none, or it could not be reached. */
  snapshotsLeft: number;
}

const NOTHING: Erased = { executions: 0, tombstones: 0, snapshots: 0, snapshotsLeft: 0 };
const LOOKED_UP = 500;

/** Erases one run; undefined if nothing is stored under that id. */
export async function eraseOne(store: Store, id: string, snapshotStore: SnapshotStore | undefined): Promise<Erased | undefined> {
  const erased = await retrying(() => store.db.transaction((tx) => eraseOrThrow(tx, id)));
  const { executions, tombstones, snapshots, others } = erased;
  if (executions + tombstones + others + snapshots.length === 0) return undefined;
  const gone = snapshotStore ? await removeDiscarded(store.db, snapshotStore, snapshots, () => undefined) : 0;
  return { executions, tombstones, snapshots: gone, snapshotsLeft: snapshots.length - gone };
}

/** Removes the states of removed executions from the snapshot store; a worker tries again with those that cannot be removed now. */
export async function removeStates({ db }: Store, ids: readonly string[], snapshotStore: SnapshotStore): Promise<void> {
  await removeDiscarded(db, snapshotStore, await discardedSnapshotsOf(db, ids), () => undefined);
}

/** Erases every run with a tag. When one of them has not ended, nothing is erased. */
export async function eraseTagged(store: Store, tag: string, snapshotStore: SnapshotStore | undefined): Promise<Erased> {
  const ids = await findTagged(store.db, tag);
  for (let from = 0; from < ids.length; from += LOOKED_UP) {
    const living = (await getExecutions(store.db, ids.slice(from, from + LOOKED_UP))).find(({ status }) => !isEnded(status));
    if (living) throw new EraseRefusedError(living.id, living.status, null);
  }
  for (const id of ids) {
    const refusal = await findEraseRefusal(store.db, id);
    if (refusal) throw new EraseRefusedError(refusal.refused.id, refusal.refused.status, refusal.refused.parentId);
  }
  const total = { ...NOTHING };
  for (const id of ids) {
    // One of them may have been erased with another.
    const erased = (await eraseOne(store, id, snapshotStore)) ?? NOTHING;
    for (const key of Object.keys(total) as (keyof Erased)[]) total[key] += erased[key];
  }
  return total;
}

async function eraseOrThrow(tx: Parameters<typeof eraseExecution>[0], id: string): Promise<ErasedExecution> {
  const erased = await eraseExecution(tx, id);
  if ('refused' in erased) throw new EraseRefusedError(erased.refused.id, erased.refused.status, erased.refused.parentId);
  return erased;
}
