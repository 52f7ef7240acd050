// Removes ended executions with everything that belongs to them.

import { type Runner, sql } from '../connect/statement.js';
import { ENDED } from '../ended.js';
import { bucketOf, idColumns, mayBeStep } from '../ids.js';
import { OWNED_TABLES } from '../owned-rows.js';
import { isBelow, isInTree } from '../relatives.js';

// Everything of a run is keyed by its id, and its steps are the range of ids that begin with it. The rows are locked before
// anything is deleted, and checked once more: one of them may have been retried since the statement began. A step in place that gets
// its row meanwhile would not be seen by this statement, so a run that had one when it began is left as it is.
// Each tree is looked up by the key, in a subquery that cannot become a join, and what belongs to it is deleted by arrays: the planner
// expects so many rows of the range that as joins it read whole tables (117, 358 and 797 ms per batch at 50, 200 and 500 thousand rows).
const UNREMOVABLE = `(x.status NOT IN ${ENDED} OR x.pending IS NOT NULL)`;
const remove = (name: string, whenHeld: string) =>
  sql(
    name,
    `WITH roots AS MATERIALIZED (
    SELECT e.id, e.bucket FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket), LATERAL (
      SELECT x.id, x.bucket FROM rhythm.executions x WHERE x.id = d.id AND x.bucket = d.bucket AND x.status IN ${ENDED} AND x.pending IS NULL
        AND (SELECT 1 FROM rhythm.executions x WHERE x.bucket = d.bucket AND ${isBelow('x.id', 'd.id')} AND ${UNREMOVABLE} LIMIT 1) IS NULL
      FOR UPDATE OF x ${whenHeld}
    ) e
  ), locked AS MATERIALIZED (
    SELECT e.*, r.id AS root FROM roots r, LATERAL (
      SELECT x.id, x.bucket, x.status, x.pending FROM rhythm.executions x WHERE x.bucket = r.bucket AND ${isInTree('x.id', 'r.id')} FOR UPDATE OF x
    ) e
  ), removable AS MATERIALIZED (
    SELECT id, bucket FROM locked WHERE root <> ALL(ARRAY(SELECT x.root FROM locked x WHERE ${UNREMOVABLE}))
  ), ${OWNED_TABLES.map((table) => `no_${table} AS (DELETE FROM rhythm.${table} WHERE execution_id = ANY(ARRAY(SELECT id FROM removable))${table === 'steps' ? ' RETURNING execution_id, call' : ''})`).join(', ')},
  gone AS (DELETE FROM rhythm.executions WHERE id = ANY(ARRAY(SELECT id FROM removable)) RETURNING id)
  SELECT id FROM gone UNION ALL SELECT execution_id || ':' || call FROM no_steps`,
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
