// Notes that a task has begun, so that a bound on the wait for its start can no longer end it.

import { type Runner, sql } from './statement.js';

// A claim writes nothing to the execution, so a timer that read it as waiting could still end it at the same fence. This
// write and the timer's meet on one row: whichever comes second finds the fence or `started_at` changed and does nothing.
const MARK = sql(
  'mark_started',
  `WITH begun AS (
    UPDATE rhythm.executions SET started_at = coalesce(started_at, now()) WHERE id = $1 AND bucket = $2 AND fence = $3 RETURNING id, bucket
  ), unbound AS (
    DELETE FROM rhythm.scheduled_queue s USING begun b WHERE s.execution_id = b.id AND s.bucket = b.bucket AND s.kind = 'start'
  )
  SELECT id FROM begun`,
);

/** Marks a claimed task as started. Answers false when it is no longer this claim's: it must not be run. */
export async function markStarted(db: Runner, item: { id: string; bucket: number; fence: number }): Promise<boolean> {
  return (await db.rows(MARK, [item.id, item.bucket, item.fence])).length > 0;
}
