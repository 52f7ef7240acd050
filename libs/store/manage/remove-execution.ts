// Removes ended executions with everything that belongs to them.

import { type Runner, sql } from '../connect/statement.js';
import { ENDED } from '../ended.js';
import { bucketOf, idColumns, mayBeStep } from '../ids.js';
import { deleteOwned } from '../owned-rows.js';
import { isBelow, isInTree } from '../relatives.js';

// Everything of a run is keyed by its id, and its steps are the range of ids that begin with it. The rows are locked before
// anything is deleted, and checked once more: one of them may have been retried since the statement began. A step in place that gets
// its row meanwhile would not be seen by this statement, so a run that had one when it began is left as it is.
const remove = (name: string, whenHeld: string) =>
  sql(
    name,
    `WITH roots AS MATERIALIZED (
    SELECT e.id, e.bucket FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
    WHERE e.status IN ${ENDED} AND e.pending IS NULL AND NOT EXISTS (
      SELECT 1 FROM rhythm.executions live WHERE live.bucket = d.bucket AND (live.status NOT IN ${ENDED} OR live.pending IS NOT NULL)
        AND ${isBelow('live.id', 'd.id')})
    FOR UPDATE OF e ${whenHeld}
  ), locked AS MATERIALIZED (
    SELECT e.id, e.bucket, e.status, e.pending, r.id AS root FROM roots r
    JOIN rhythm.executions e ON e.bucket = r.bucket AND ${isInTree('e.id', 'r.id')}
    FOR UPDATE OF e
  ), removable AS MATERIALIZED (
    SELECT id, bucket FROM locked WHERE root <> ALL(ARRAY(SELECT root FROM locked WHERE status NOT IN ${ENDED} OR pending IS NOT NULL))
  ), ${deleteOwned('removable')}, gone AS (DELETE FROM rhythm.executions t USING removable d WHERE t.id = d.id AND t.bucket = d.bucket RETURNING t.id)
  SELECT id FROM gone
  UNION ALL SELECT s.execution_id || ':' || s.call FROM removable d JOIN rhythm.steps s ON s.execution_id = d.id AND s.bucket = d.bucket`,
  );
const REMOVE = remove('remove_executions', '');
const REMOVE_FREE = remove('remove_free_executions', 'SKIP LOCKED');

const REMOVE_STEPS = sql(
  'remove_steps',
  `DELETE FROM rhythm.steps s USING unnest($1::text[], $2::smallint[], $3::text[], $4::integer[]) AS d(id, bucket, run, call)
  WHERE s.execution_id = d.run AND s.bucket = d.bucket AND s.call = d.call RETURNING d.id`,
);

/** How to remove. */
export interface RemoveOptions {
  /** Leave out runs that a start in an open transaction has found, instead of waiting for that transaction to end. */
  skipHeld?: boolean;
}

/** Removes ended executions and their trees. A tree in which something has not ended is left as it is. Returns the removed ids, steps included. */
export async function removeExecutions(db: Runner, ids: readonly string[], { skipHeld = false }: RemoveOptions = {}): Promise<string[]> {
  const removed = await db.rows<{ id: string }>(skipHeld ? REMOVE_FREE : REMOVE, [ids, ids.map(bucketOf)]);
  const steps = ids.filter(mayBeStep);
  if (steps.length > 0) removed.push(...(await db.rows<{ id: string }>(REMOVE_STEPS, idColumns(steps))));
  return removed.map((row) => row.id);
}
