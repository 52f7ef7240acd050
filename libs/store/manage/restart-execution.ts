// Starts an ended execution again from the beginning, under its id: nothing of the old run is left.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ENDED } from '../ended.js';
import { newFence } from '../fence.js';
import { bucketOf } from '../ids.js';
import { inputHash } from '../input-hash.js';
import { DUE_AFTER_DELAY, EXECUTION_COLUMNS, EXECUTION_VALUES, executionColumns, type NewExecution, schedule } from '../new-execution.js';
import { deleteOwned } from '../owned-rows.js';
import { isBelow, isChildWithOwnId, isInTree, livingOwnChildren } from '../relatives.js';
import { enqueue } from '../work-queue.js';
import { discardStatesOf } from './discarded-snapshots.js';

// In a statement of its own, so that the next one sees what was committed before the lock was granted: of two restarts the second finds
// the new run with all that it has called by then.
const LOCK = sql('lock_ended_execution', `SELECT FROM rhythm.executions WHERE id = $1 AND bucket = $2 AND status IN ${ENDED} FOR UPDATE`);

// Locks the run and everything it called and checks them once more, as a removal does: a retry may have come first. A child that has not ended would report its end to the new run, which has the same id and the
// same numbers of calls; so would one with an id of its own.
// Such children that have ended stay. They lose their parent, or the new run would be shown with them and could adopt them.
const CLEAR = sql(
  'clear_ended_execution',
  `WITH root AS MATERIALIZED (
    SELECT e.id, e.bucket FROM rhythm.executions e
    WHERE e.id = $1 AND e.bucket = $2 AND e.status IN ${ENDED} AND e.pending IS NULL AND NOT EXISTS (
      SELECT 1 FROM rhythm.executions live WHERE live.bucket = $2 AND (live.status NOT IN ${ENDED} OR live.pending IS NOT NULL)
        AND ${isBelow('live.id', '$1')})
    FOR UPDATE OF e
  ), locked AS MATERIALIZED (
    SELECT e.id, e.bucket, e.status, e.pending, e.snapshot_ref, e.calls, CASE WHEN e.parent_id = $1 THEN e.parent_call END AS call FROM root r
    JOIN rhythm.executions e ON e.bucket = r.bucket AND ${isInTree('e.id', 'r.id')}
    FOR UPDATE OF e
  ), ended AS MATERIALIZED (
    SELECT id, bucket, snapshot_ref FROM locked WHERE NOT EXISTS (SELECT 1 FROM locked WHERE status NOT IN ${ENDED} OR pending IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM locked l, LATERAL (SELECT 1 FROM ${livingOwnChildren('l.id')}) live)
  ), ${discardStatesOf('ended')}, ${deleteOwned('ended')}, orphans AS (
    UPDATE rhythm.executions c SET parent_id = NULL, parent_call = NULL FROM ended d WHERE ${isChildWithOwnId('c.', 'd.id')}
  ), children AS (
    DELETE FROM rhythm.executions t USING ended d WHERE t.id = d.id AND t.bucket = d.bucket AND t.id <> $1
  )
  SELECT greatest(max(l.calls) FILTER (WHERE l.id = $1), max(l.call), (SELECT max(s.call) FROM rhythm.steps s WHERE s.execution_id = $1 AND s.bucket = $2), 0) AS calls
  FROM locked l WHERE EXISTS (SELECT 1 FROM ended) HAVING count(*) > 0`,
);

// Its calls are numbered after those of the old run: the number is a part of their idempotency keys, and whoever was called with the old
// keys must not take the new calls for repetitions.
// The row becomes that of a new run. An update and not a delete with an insert: whoever reads the id meanwhile finds the old run or the
// new one, and never none. A second statement, because its due times replace those that the first one deletes.
const RESET = sql(
  'reset_execution',
  `WITH new AS (
    UPDATE rhythm.executions e SET created_at = ${CLOCK}, (fence, ${EXECUTION_COLUMNS}) = ROW($14::bigint, ${EXECUTION_VALUES}),
      status = 'pending', started_at = NULL, finished_at = NULL, cancelled_at = NULL, attempts = 0, crashes = 0, worker_id = NULL,
      progress = NULL, note = NULL, input_hash = CASE WHEN e.input_hash IS NOT NULL THEN $15::text END, snapshot = NULL, snapshot_ref = NULL, calls = $16::integer, turns = NULL, pending = NULL,
      output = NULL, output_verbatim = NULL, error = NULL
    FROM unnest($1::text[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::integer[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])
      AS d(${EXECUTION_COLUMNS})
    WHERE e.id = d.id AND e.bucket = d.bucket
    RETURNING e.id, e.bucket, e.type, e.queue, e.priority, e.options,
      CASE WHEN e.options ? 'runAt' THEN (e.options->>'runAt')::timestamptz ${DUE_AFTER_DELAY.replaceAll('options', 'e.options')} END AS due_at
  ), queued AS (
    ${enqueue('new WHERE due_at IS NULL', '$14::bigint')}
  ), scheduled AS (
    ${schedule('new', '$14::bigint')}
  )
  SELECT id FROM new`,
);

/**
 * Makes an ended execution a new run, in the caller's transaction. Returns false, and changes nothing, if it does not exist or has not
 * ended with everything it called.
 */
export async function restartExecution(tx: Runner, execution: NewExecution): Promise<boolean> {
  const key = [execution.id, bucketOf(execution.id)];
  if ((await tx.rows(LOCK, key)).length === 0) return false;
  const [cleared] = await tx.rows<{ calls: number }>(CLEAR, key);
  if (!cleared) return false;
  await tx.rows(RESET, [...executionColumns([execution]), newFence(), inputHash(execution.input), cleared.calls]);
  return true;
}
