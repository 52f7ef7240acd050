// Removes ended executions with everything that belongs to them.

import { bucketOf } from './ids.js';
import { type Runner, sql } from './statement.js';

const ENDED = `('completed', 'failed', 'cancelled')`;

// Everything of a run is keyed by its id; its steps are the range of ids that begin with it. The rows are locked before anything
// of them goes, and looked at once more: a retry may have brought one of them back to life since the statement began.
const remove = (name: string, whenHeld: string) =>
  sql(
    name,
    `WITH roots AS MATERIALIZED (
    SELECT e.id, e.bucket FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
    WHERE e.status IN ${ENDED} AND NOT EXISTS (
      SELECT 1 FROM rhythm.executions live WHERE live.bucket = d.bucket AND live.status NOT IN ${ENDED}
        AND live.id >= d.id || ':' AND live.id < d.id || ';')
    FOR UPDATE OF e ${whenHeld}
  ), locked AS MATERIALIZED (
    SELECT e.id, e.bucket, e.status, r.id AS root FROM roots r
    JOIN rhythm.executions e ON e.bucket = r.bucket AND (e.id = r.id OR (e.id >= r.id || ':' AND e.id < r.id || ';'))
    FOR UPDATE OF e
  ), doomed AS MATERIALIZED (
    SELECT id, bucket FROM locked WHERE root <> ALL(ARRAY(SELECT root FROM locked WHERE status NOT IN ${ENDED}))
  ), a AS (DELETE FROM rhythm.workflow_execution_context t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), b AS (DELETE FROM rhythm.inbox t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), c AS (DELETE FROM rhythm.signals t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), f AS (DELETE FROM rhythm.scheduled_queue t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), g AS (DELETE FROM rhythm.resume_groups t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), h AS (DELETE FROM rhythm.marked_executions t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), i AS (DELETE FROM rhythm.history t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), j AS (DELETE FROM rhythm.completion_tokens t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), gone AS (DELETE FROM rhythm.executions t USING doomed d WHERE t.id = d.id AND t.bucket = d.bucket RETURNING t.id)
  SELECT id FROM gone`,
  );
const REMOVE = remove('remove_executions', '');
const REMOVE_FREE = remove('remove_free_executions', 'SKIP LOCKED');

/** How to remove. */
export interface RemoveOptions {
  /** Leave out runs that an open transaction of somebody's was given back by a start, instead of waiting for its end. */
  skipHeld?: boolean;
}

/** Removes ended executions and their trees. A tree with something alive in it stays whole. Returns the removed ids, steps included. */
export async function removeExecutions(db: Runner, ids: readonly string[], { skipHeld = false }: RemoveOptions = {}): Promise<string[]> {
  return (await db.rows<{ id: string }>(skipHeld ? REMOVE_FREE : REMOVE, [ids, ids.map(bucketOf)])).map((row) => row.id);
}
