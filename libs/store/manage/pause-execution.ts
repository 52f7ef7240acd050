// Pauses and resumes runs. Both replace the fence: what a worker was doing for the run is dropped and done again after the resume.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE } from '../ended.js';
import { newFence } from '../fence.js';
import { bucketOf } from '../ids.js';
import { pauseSteps } from '../run/take-steps.js';
import { deleteWaiting, insertWaitingOne } from '../waiting-rows.js';
import { enqueue } from '../work-queue.js';

const E_OF_R = 'JOIN rhythm.executions e ON e.id = r.id AND e.bucket = r.bucket';

// The rows are locked first, so that the status and fence read from them are the newest: a task may be handed over at this moment.
const locked = (condition: string) => `locked AS MATERIALIZED (
    SELECT e.id, e.bucket, e.fence, e.status FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
    WHERE ${condition} FOR NO KEY UPDATE OF e
  )`;
// The token of a task that was handed over stays valid through a pause: it gets the new fence. The old fence is compared in SET
// and not in WHERE, because the hand-over that the lock waited for may have changed it after this statement began.
const tokens = (moved: string) => `moved_tokens AS (
    UPDATE rhythm.completion_tokens t SET fence = CASE WHEN t.fence = m.old_fence THEN m.fence ELSE t.fence END
    FROM ${moved} m WHERE m.handed AND t.execution_id = m.id AND t.bucket = m.bucket
  )`;

const PAUSE = sql(
  'pause_executions',
  `WITH ${locked(`e.status IN ${ACTIVE} AND e.cancelled_at IS NULL`)}, paused AS (
    UPDATE rhythm.executions e SET status = 'paused', fence = $3
    FROM locked l WHERE e.id = l.id AND e.bucket = l.bucket
    RETURNING e.id, e.bucket, e.fence, l.fence AS old_fence, e.type = 'task' AND l.status = 'suspended' AS handed
  ), ${tokens('paused')}, marked AS (
    INSERT INTO rhythm.marked_executions (execution_id, bucket, status) SELECT id, bucket, 'paused' FROM paused
    ON CONFLICT (execution_id, bucket) DO UPDATE SET status = 'paused', marked_at = ${CLOCK}
  ), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind) SELECT id, bucket, nextval('rhythm.event_seq'), 'paused' FROM paused
  ), waited AS (
    ${deleteWaiting('paused d')}
  )
  SELECT id FROM paused`,
);

// The pause may have waited for the commit that let the run go, whose rows its snapshot does not have.
const FORGET = sql(
  'forget_waiting_of_paused',
  `${deleteWaiting('unnest($1::text[], $2::smallint[]) AS d(id, bucket)')} AND EXISTS (
    SELECT FROM rhythm.executions e WHERE e.id = d.id AND e.bucket = d.bucket AND e.status = 'paused' FOR NO KEY UPDATE)`,
);

// What a paused run waits for is written again by its next turn. What is due at a later time keeps that time; everything else is queued now. A paused task whose token is valid was handed
// over: it waits for its completion from outside again.
const RESUME = sql(
  'resume_executions',
  `WITH ${locked(`e.status = 'paused'`)}, before AS MATERIALIZED (
    SELECT l.*, EXISTS (SELECT 1 FROM rhythm.completion_tokens t WHERE t.execution_id = l.id AND t.bucket = l.bucket AND t.fence = l.fence) AS handed
    FROM locked l
  ), resumed AS (
    UPDATE rhythm.executions e SET
      status = CASE WHEN b.handed OR (e.type = 'workflow' AND e.started_at IS NOT NULL) THEN 'suspended' ELSE 'pending' END, fence = $3
    FROM before b WHERE e.id = b.id AND e.bucket = b.bucket
    RETURNING e.id, e.bucket, e.type, e.status, e.turns, e.queue, e.priority, e.fence, b.fence AS old_fence, b.handed
  ), ${tokens('resumed')}, kept AS (
    UPDATE rhythm.scheduled_queue s SET fence = CASE WHEN r.type = 'task' THEN r.fence END FROM resumed r
    WHERE s.execution_id = r.id AND s.bucket = r.bucket AND s.kind = 'run' AND s.call = 0
    RETURNING s.execution_id
  ), queued AS (
    ${enqueue(`resumed WHERE type = 'workflow' OR NOT (handed OR id IN (SELECT execution_id FROM kept))`)}
  ), unmarked AS (
    DELETE FROM rhythm.marked_executions m USING resumed r WHERE m.execution_id = r.id AND m.bucket = r.bucket
  ), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind) SELECT id, bucket, nextval('rhythm.event_seq'), 'resumed' FROM resumed
  ), waiting_for_worker AS (
    ${insertWaitingOne('worker', `resumed r ${E_OF_R} WHERE r.status = 'suspended' AND NOT r.handed`, 'r.turns')}
  ), waiting_for_completion AS (
    ${insertWaitingOne('completion', `resumed r ${E_OF_R} WHERE r.status = 'suspended' AND r.handed`, 'r.turns')}
  )
  SELECT id FROM resumed`,
);

/** Stops runs from moving until they are resumed. Returns the ids that were paused; those that had ended or were paused already are left out. */
export async function pauseExecutions(db: Runner, ids: readonly string[]): Promise<string[]> {
  // A step in place has no row that could be paused: it gets one that is.
  const steps = await pauseSteps(db, ids);
  const rows = await db.rows<{ id: string }>(PAUSE, [ids, ids.map(bucketOf), newFence()]);
  if (rows.length > 0) await db.rows(FORGET, [rows.map(({ id }) => id), rows.map(({ id }) => bucketOf(id))]);
  return [...rows.map(({ id }) => id), ...steps];
}

/** Lets paused runs move again. Returns the ids that were resumed. */
export async function resumeExecutions(db: Runner, ids: readonly string[]): Promise<string[]> {
  return (await db.rows<{ id: string }>(RESUME, [ids, ids.map(bucketOf), newFence()])).map((row) => row.id);
}
