// Deletes events and signals that no turn will read: those of executions that have ended, and the signals of tasks.

import { type Runner, sql } from '../connect/statement.js';
import { ENDED_FOR_GOOD } from '../ended.js';
import { bucketOf } from '../ids.js';

// A child may write its event in the same moment in which its parent ends: neither transaction sees the other, and the event is
// left over. The wake that comes with every event finds the execution ended or removed, and the claim of that wake leads here. An
// event never comes before its execution, so one without an execution is late too; a signal may come before, and is kept.
// A failed workflow keeps its events for a retry.
// A task takes no signals at all; one may have been sent before the task was started under that id.
const DROP_LATE = sql(
  'drop_late_events',
  `WITH no_signals AS (
    DELETE FROM rhythm.signals s USING unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    WHERE s.execution_id = d.id AND s.bucket = d.bucket AND EXISTS (
      SELECT 1 FROM rhythm.executions e WHERE e.id = d.id AND e.bucket = d.bucket AND (e.status IN ${ENDED_FOR_GOOD} OR e.type = 'task'))
  )
  DELETE FROM rhythm.inbox i USING unnest($1::text[], $2::smallint[]) AS d(id, bucket)
  WHERE i.execution_id = d.id AND i.bucket = d.bucket AND NOT EXISTS (
    SELECT 1 FROM rhythm.executions e WHERE e.id = d.id AND e.bucket = d.bucket
      AND e.status NOT IN ${ENDED_FOR_GOOD} AND NOT (e.type = 'task' AND e.status = 'failed'))`,
);

/** Deletes the events of those executions that have ended for good or were removed, and the signals of tasks. */
export async function dropLateEvents(db: Runner, ids: readonly string[]): Promise<void> {
  await db.rows(DROP_LATE, [ids, ids.map(bucketOf)]);
}
