// Finds and removes signals that waited too long for a workflow run that never started.

import { type Runner, sql } from '../connect/statement.js';

// A signal may come before its run, so it is kept; retention decides for how long. If a task starts under that id, no wait will
// take the signal. This runs only now and then: the table is small (the end of a run removes its signals), and an
// index by age would cost every sender.
const MATCH = `s.created_at < $1 AND NOT EXISTS (SELECT 1 FROM rhythm.executions e WHERE e.id = s.execution_id AND e.bucket = s.bucket AND e.type = 'workflow')`;

const COUNT = sql('count_orphan_signals', `SELECT count(*)::integer AS n FROM rhythm.signals s WHERE ${MATCH}`);

const REMOVE = sql(
  'remove_orphan_signals',
  `DELETE FROM rhythm.signals WHERE ctid = ANY(ARRAY(SELECT s.ctid FROM rhythm.signals s WHERE ${MATCH} LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING seq`,
);

/** How many signals sent before a time are for an id that has no workflow run. */
export async function countOrphanSignals(db: Runner, sentBefore: Date): Promise<number> {
  return (await db.rows<{ n: number }>(COUNT, [sentBefore]))[0].n;
}

/** Removes one bounded batch of them. Call it again until it returns 0; it is safe to stop at any time. */
export async function removeOrphanSignals(db: Runner, sentBefore: Date, limit = 500): Promise<number> {
  return (await db.rows(REMOVE, [sentBefore, limit])).length;
}
