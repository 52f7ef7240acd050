// Starts whose id may be taken: a new run, the run that is there, or a new run in place of one that has ended.

import type { Runner } from '../connect/statement.js';
import { isEnded } from '../ended.js';
import type { NewExecution } from '../new-execution.js';
import { readResults } from '../read/read-execution.js';
import { type InsertOptions, insertExecutions, type StartOutcome } from './insert-executions.js';
import { restartExecution } from './restart-execution.js';
import { forgetTombstone } from './tombstones.js';

/**
 * `restarted`: the run that had the id had ended, and is a new one now. `living`: it has not ended; nothing was changed. `busy`: it has
 * ended, and something that it called has not; nothing was changed.
 */
export type StartAgainOutcome = Omit<StartOutcome, 'outcome'> & { outcome: StartOutcome['outcome'] | 'restarted' | 'living' | 'busy' };

// More are needed only if runs of this id end, are removed and are started between two statements.
const TRIES = 10;

/**
 * Starts an execution, or restarts the ended one with its id, in the caller's transaction. Another type or name is a conflict; another
 * input is one only if `living` runs are to be returned.
 */
export async function startAgain(
  tx: Runner,
  execution: NewExecution,
  { returnLiving, ...options }: InsertOptions & { returnLiving: boolean },
): Promise<StartAgainOutcome> {
  const { id } = execution;
  for (let tries = 0; tries < TRIES; tries++) {
    // Without a lock on the run that is there: two transactions that both had one could not both go on to replace it.
    const [found] = await insertExecutions(tx, [execution]);
    if (found.outcome === 'created' || found.differs === 'type' || found.differs === 'name') return found;
    if (await restartExecution(tx, execution)) return { id, outcome: 'restarted' };
    const [run] = await readResults(tx, [id]);
    if (run && isEnded(run.status)) return { id, outcome: 'busy' };
    if (!run || run.status === 'removed') {
      // It was removed, and what it left behind would refuse the new run.
      await forgetTombstone(tx, id);
      continue;
    }
    if (!returnLiving) return { id, outcome: 'living' };
    // Compared with the run that is there now: a restart of somebody else may have replaced the one that was found first.
    const [living] = await insertExecutions(tx, [execution], options);
    if (living.outcome !== 'contended') return living;
  }
  return { id, outcome: 'contended' };
}
