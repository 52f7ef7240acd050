// Runs a transactional task: its writes, its result and the wake-up of its workflow commit together, or not at all.

import { commitWork, isLockTimeout, isServerError, joinTransaction, limitWaits, stillConnected } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { toJsonText } from '../payload.js';
import { UnreachableError } from '../unreachable.js';
import type { HeldItem } from '../work/held-work.js';
import { completed } from './task-commits.js';

// The fenced write locks rows that others need, and only the COMMIT is left to be sent. If this host freezes or disappears in
// between, the server would keep the locks until TCP gives up, and the parent's turn would wait for them. So the server ends such a
// transaction well before its worker is declared dead. Its siblings wait for the row of their resume group: they give up first, or
// each would be silent for its own time, one after the other (six of them kept their work for 60 s).
const LONGEST_SILENT_MS = 10_000;
const SHORTEST_SILENT_MS = 1_000;

function waitLimits(deadAfterMs: number): { silentMs: number; lockMs: number } {
  const silentMs = Math.max(SHORTEST_SILENT_MS, Math.min(LONGEST_SILENT_MS, deadAfterMs / 3));
  return { silentMs, lockMs: silentMs / 2 };
}

/** The execution was taken over while the task ran: its transaction is rolled back. */
export class ClaimLostError extends Error {
  readonly code = 'RHYTHM_CLAIM_LOST';
  constructor(readonly executionId: string) {
    super(`Execution ${executionId} was taken over by another worker. If tasks block the event loop, raise worker.deadAfter.`);
    this.name = 'ClaimLostError';
  }
}

/**
 * Calls the task inside a transaction of the app's own DataSource, and writes the fenced result last: if the fence was lost
 * everything is rolled back, so the task takes effect exactly once. It commits alone, never in a group.
 */
export async function transactionally(
  parts: WorkerParts,
  item: HeldItem,
  call: (manager: unknown) => Promise<unknown>,
  committed: { done: boolean },
): Promise<unknown> {
  const { appDataSource, store, options, workerId, runtime } = parts;
  if (!appDataSource) throw new Error(`Task "${item.name}" is transactional, but this worker has no DataSource of the app.`);
  let stage: 'begin' | 'task' | 'commit' = 'begin';
  try {
    await appDataSource.transaction(async (manager) => {
      stage = 'task';
      const value = await call(manager).catch(async (error: unknown) => {
        // Whether the connection works cannot be read from what the task throws; the connection itself is asked.
        throw (await stillConnected(manager)) ? error : new UnreachableError('The connection was lost in the transaction', error);
      });
      if (item.dropped) throw new ClaimLostError(item.id);
      const output = toJsonText(value, `The result of task "${item.name}"`, options);
      const db = await joinTransaction(manager, store.schema);
      stage = 'commit';
      await limitWaits(db, waitLimits(options.deadAfterMs));
      const work = { workerId, tasks: [completed(item, output)], turns: [], claims: [], fence: runtime.newFence() };
      const { tasks } = await commitWork(db, work);
      if (!tasks[0]) throw new ClaimLostError(item.id);
    });
  } catch (error) {
    if (stage === 'begin') throw new UnreachableError('The transaction could not begin', error, { began: false });
    // Another transaction held the rows of the fenced write for too long. The task is not at fault, and nothing of it takes effect.
    if (stage === 'commit' && isLockTimeout(error)) throw new UnreachableError('The result could not be written', error, { began: false });
    if (stage === 'task' || error instanceof ClaimLostError || isServerError(error)) throw error;
    throw new UnreachableError('The connection was lost at the end of the transaction', error);
  }
  committed.done = true;
  return undefined;
}
