// Marks a task as started, so that its start timeout can no longer end it.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';

// A claim writes nothing to the execution, so a timeout that read it as waiting could still end it at the same fence. This write
// changes the row that the timeout locks before it reads its limit again: the second of them finds the fence changed, or the limit gone.
const MARK = sql(
  'mark_started',
  `WITH begun AS (
    UPDATE rhythm.executions SET started_at = coalesce(started_at, ${CLOCK}) WHERE id = $1 AND bucket = $2 AND fence = $3 RETURNING id, bucket
  ), unbound AS (
    DELETE FROM rhythm.scheduled_queue s USING begun b WHERE s.execution_id = b.id AND s.bucket = b.bucket AND s.kind = 'start'
  )
  SELECT id FROM begun`,
);

/** Marks a claimed task as started. Returns false when the claim was lost: then it must not be run. */
export async function markStarted(db: Runner, item: { id: string; bucket: number; fence: number }): Promise<boolean> {
  return (await db.rows(MARK, [item.id, item.bucket, item.fence])).length > 0;
}
