// Deletes events and signals that reached a run after it had ended.

import { bucketOf } from './ids.js';
import { type Runner, sql } from './statement.js';

// A child may tell its parent in the very moment in which the parent ends: neither sees the other, and the event is left over.
const DROP_LATE = sql(
  'drop_late_events',
  `WITH ended AS MATERIALIZED (
    SELECT e.id, e.bucket FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
    WHERE e.status IN ('completed', 'cancelled') OR (e.type = 'task' AND e.status = 'failed')
  ), no_signals AS (DELETE FROM rhythm.signals s USING ended e WHERE s.execution_id = e.id AND s.bucket = e.bucket
  )
  DELETE FROM rhythm.inbox i USING ended e WHERE i.execution_id = e.id AND i.bucket = e.bucket`,
);

/** Deletes the events of those executions that have ended for good. */
export async function dropLateEvents(db: Runner, ids: readonly string[]): Promise<void> {
  await db.rows(DROP_LATE, [ids, ids.map(bucketOf)]);
}
