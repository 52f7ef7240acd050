// Retries a failed execution: a task runs again, a workflow continues from the await that failed.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { RetryRefusedError } from '../errors.js';
import { newFence } from '../fence.js';
import { bucketOf } from '../ids.js';
import { isChildWithOwnId } from '../relatives.js';
import { insertWaitingOne } from '../waiting-rows.js';
import { enqueue } from '../work-queue.js';

// The failing turn left its snapshot and its events in place, so queueing the run again is all a workflow needs.
// A child's failure among those events means that the child must run again first: it is queued too.
// A retry of a child removes its failure from the parent's events, if it is still there (`unread_failures`): the parent, which has failed
// because of it or has not read it yet, gets the new outcome instead. So a retry of the parent finds the outcome that the child
// has by then: none yet, its result, or its next failure. A parent that has handled the failure gets no further event
// (`parent_call` becomes NULL).
// The run is queued even if a child runs again first: that child may have been retried separately meanwhile and have
// ended, and its own wake may have been claimed while this run was still failed.
// A statement reads the rows as they were before it, so the failure that the update overwrites can be noted here.
const RETRY = sql(
  'retry_execution',
  `WITH unread_failures AS MATERIALIZED (
    SELECT i.execution_id, i.bucket, i.seq FROM rhythm.executions e
    JOIN rhythm.inbox i ON i.execution_id = e.parent_id AND i.call = e.parent_call AND i.kind = 'failed'
    WHERE e.id = $1 AND e.bucket = $2 AND e.status = 'failed'
  ), failed AS (
    UPDATE rhythm.executions e SET status = CASE WHEN e.type = 'workflow' THEN 'suspended' ELSE 'pending' END,
      fence = $3, attempts = 0, crashes = 0, error = NULL, note = NULL, finished_at = NULL, cancelled_at = NULL,
      parent_call = CASE WHEN EXISTS (SELECT 1 FROM unread_failures) THEN e.parent_call END
    WHERE e.id = $1 AND e.bucket = $2 AND e.status = 'failed' AND (e.type = 'task' OR e.note IS NULL)
    RETURNING e.id, e.bucket, e.type, e.queue, e.priority, e.fence, e.turns
  ), failed_children AS (
    SELECT c.id FROM failed f JOIN rhythm.inbox i ON i.execution_id = f.id AND i.bucket = f.bucket, LATERAL (
      SELECT c.id FROM rhythm.executions c WHERE c.id = f.id || ':' || i.call AND c.bucket = f.bucket AND c.status = 'failed'
      UNION ALL
      SELECT c.id FROM rhythm.executions c WHERE ${isChildWithOwnId('c.', 'f.id')}
        AND c.parent_call = i.call AND c.status = 'failed'
    ) c WHERE f.type = 'workflow' AND i.kind = 'failed'
  ), withdrawn_failures AS (
    DELETE FROM rhythm.inbox i USING unread_failures o
    WHERE i.execution_id = o.execution_id AND i.bucket = o.bucket AND i.seq = o.seq AND EXISTS (SELECT 1 FROM failed)
  ), unmarked AS (
    DELETE FROM rhythm.marked_executions m USING failed f WHERE m.execution_id = f.id AND m.bucket = f.bucket
  ), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, at, kind, worker_id, detail)
    SELECT before.id, before.bucket, nextval('rhythm.event_seq'), before.finished_at, 'failed', before.worker_id, before.error
    FROM failed f JOIN rhythm.executions before ON before.id = f.id AND before.bucket = f.bucket
    UNION ALL
    SELECT id, bucket, nextval('rhythm.event_seq'), ${CLOCK}, 'retried', NULL, NULL FROM failed
  ), queued AS (
    ${enqueue('failed')}
  ), waiting_for_worker AS (
    ${insertWaitingOne('worker', `failed f JOIN rhythm.executions e ON e.id = f.id AND e.bucket = f.bucket WHERE f.type = 'workflow'`, 'f.turns')}
  )
  SELECT coalesce((SELECT array_agg(DISTINCT b.id) FROM failed_children b), '{}') AS children FROM failed f`,
);

// The note of a failed run is the reason why it cannot continue.
const WHY_NOT = sql(
  'why_no_retry',
  `SELECT note FROM rhythm.executions WHERE id = $1 AND bucket = $2 AND status = 'failed' AND type = 'workflow' AND note IS NOT NULL`,
);

/**
 * Puts a failed execution back to work, in the caller's transaction. A failed child of a failed turn runs again first,
 * and its parent waits for it as before; if it was retried before, the parent waits for it or takes its result. Returns false when
 * the execution is not failed.
 * A run that cannot continue, or waits for a child that cannot, is refused with an error; the caller rolls back.
 */
export async function retryExecution(tx: Runner, id: string): Promise<boolean> {
  const [row] = await tx.rows<{ children: string[] }>(RETRY, [id, bucketOf(id), newFence()]);
  if (!row) {
    const [refused] = await tx.rows<{ note: string }>(WHY_NOT, [id, bucketOf(id)]);
    if (refused) throw new RetryRefusedError(id, refused.note);
    return false;
  }
  for (const child of row.children) await retryExecution(tx, child);
  return true;
}
