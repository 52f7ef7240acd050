// Removes ended executions with everything that belongs to them.

import { bucketOf } from './ids.js';
import { type Runner, sql } from './statement.js';

const ENDED = `('completed', 'failed', 'cancelled')`;

// Everything of a run is keyed by its id; its steps are the range of ids that begin with it.
const REMOVE = sql(
  'remove_executions',
  `WITH doomed AS (
    SELECT e.id, e.bucket FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    JOIN rhythm.executions e ON e.bucket = d.bucket AND (e.id = d.id OR (e.id >= d.id || ':' AND e.id < d.id || ';'))
    WHERE NOT EXISTS (
      SELECT 1 FROM rhythm.executions live WHERE live.bucket = d.bucket AND live.status NOT IN ${ENDED}
        AND (live.id = d.id OR (live.id >= d.id || ':' AND live.id < d.id || ';')))
  ), a AS (DELETE FROM rhythm.workflow_execution_context t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), b AS (DELETE FROM rhythm.inbox t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), c AS (DELETE FROM rhythm.signals t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), f AS (DELETE FROM rhythm.scheduled_queue t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), g AS (DELETE FROM rhythm.resume_groups t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), h AS (DELETE FROM rhythm.marked_executions t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), i AS (DELETE FROM rhythm.history t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), j AS (DELETE FROM rhythm.completion_tokens t USING doomed d WHERE t.execution_id = d.id AND t.bucket = d.bucket
  ), gone AS (DELETE FROM rhythm.executions t USING doomed d WHERE t.id = d.id AND t.bucket = d.bucket AND t.status IN ${ENDED} RETURNING t.id)
  SELECT id FROM gone`,
);

/** Removes ended executions and their trees. A tree with something alive in it stays whole. Answers the removed ids, steps included. */
export async function removeExecutions(db: Runner, ids: readonly string[]): Promise<string[]> {
  return (await db.rows<{ id: string }>(REMOVE, [ids, ids.map(bucketOf)])).map((row) => row.id);
}
