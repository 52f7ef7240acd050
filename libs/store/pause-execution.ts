// Pauses and resumes runs. Both replace the fence: what a worker was doing for the run is dropped and done again after the resume.

import { newFence } from './fence.js';
import { bucketOf } from './ids.js';
import { type Runner, sql } from './statement.js';

const PAUSE = sql(
  'pause_executions',
  `WITH paused AS (
    UPDATE rhythm.executions e SET status = 'paused', fence = $3
    FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    WHERE e.id = d.id AND e.bucket = d.bucket AND e.status IN ('pending', 'suspended') AND e.cancelled_at IS NULL
    RETURNING e.id, e.bucket
  ), marked AS (
    INSERT INTO rhythm.marked_executions (execution_id, bucket, status) SELECT id, bucket, 'paused' FROM paused
    ON CONFLICT (execution_id, bucket) DO UPDATE SET status = 'paused', marked_at = now()
  ), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind) SELECT id, bucket, nextval('rhythm.event_seq'), 'paused' FROM paused
  )
  SELECT id FROM paused`,
);

// What is still to come at a later time keeps that time; everything else is queued now.
const RESUME = sql(
  'resume_executions',
  `WITH resumed AS (
    UPDATE rhythm.executions e SET status = CASE WHEN e.type = 'workflow' AND e.started_at IS NOT NULL THEN 'suspended' ELSE 'pending' END, fence = $3
    FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    WHERE e.id = d.id AND e.bucket = d.bucket AND e.status = 'paused'
    RETURNING e.id, e.bucket, e.type, e.queue, e.priority, e.fence
  ), kept AS (
    UPDATE rhythm.scheduled_queue s SET fence = CASE WHEN r.type = 'task' THEN r.fence END FROM resumed r
    WHERE s.execution_id = r.id AND s.bucket = r.bucket AND s.kind = 'run' AND s.call = 0
    RETURNING s.execution_id
  ), queued AS (
    INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
    SELECT queue, -priority, nextval('rhythm.queue_seq'), bucket, id, CASE WHEN type = 'task' THEN fence END FROM resumed
    WHERE type = 'workflow' OR id NOT IN (SELECT execution_id FROM kept)
  ), unmarked AS (
    DELETE FROM rhythm.marked_executions m USING resumed r WHERE m.execution_id = r.id AND m.bucket = r.bucket
  ), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind) SELECT id, bucket, nextval('rhythm.event_seq'), 'resumed' FROM resumed
  )
  SELECT id FROM resumed`,
);

/** Stops runs from moving until they are resumed. Answers the ids that were paused; ended and paused ones are left out. */
export async function pauseExecutions(db: Runner, ids: readonly string[]): Promise<string[]> {
  return (await db.rows<{ id: string }>(PAUSE, [ids, ids.map(bucketOf), newFence()])).map((row) => row.id);
}

/** Lets paused runs move again. Answers the ids that were resumed. */
export async function resumeExecutions(db: Runner, ids: readonly string[]): Promise<string[]> {
  return (await db.rows<{ id: string }>(RESUME, [ids, ids.map(bucketOf), newFence()])).map((row) => row.id);
}
