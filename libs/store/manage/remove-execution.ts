// Removes ended executions with everything that belongs to them.

import { type Runner, sql } from '../connect/statement.js';
import { ENDED } from '../ended.js';
import { bucketOf, idColumns, mayBeStep } from '../ids.js';
import { OWNED_TABLES } from '../owned-rows.js';
import { isBelow, isInTree, livingOwnChildren } from '../relatives.js';
import { discardStatesOf } from './discarded-snapshots.js';

const LEAVE_TOMBSTONES = `buried AS (
    INSERT INTO rhythm.tombstones (bucket, id, type, target_name, input_hash, parent_id, tags)
    SELECT bucket, id, type, target_name, input_hash, parent_id, tags FROM removable WHERE input_hash IS NOT NULL
    ON CONFLICT (id, bucket) DO UPDATE SET removed_at = excluded.removed_at, type = excluded.type, target_name = excluded.target_name,
      input_hash = excluded.input_hash, parent_id = excluded.parent_id, tags = excluded.tags
  ),`;

// Everything of a run is keyed by its id, and its steps are the range of ids that begin with it. The rows are locked before
// anything is deleted, and checked once more: one of them may have been retried since the statement began. A step in place that gets
// its row meanwhile would not be seen by this statement, so a run that had one when it began is left as it is.
// Each tree is looked up by the key, in a subquery that cannot become a join, and what belongs to it is deleted by arrays: the planner
// expects so many rows of the range that as joins it read whole tables (117, 358 and 797 ms per batch at 50, 200 and 500 thousand rows).
// A run with a chosen id leaves a tombstone, unless it is erased. States outside the database are removed later, by a worker that has the
// snapshot store: what this transaction notes is not lost with this process.
const UNREMOVABLE = `(x.status NOT IN ${ENDED} OR x.pending IS NOT NULL)`;
// A child with an id of its own that has not ended would report its end to a later run of the removed id.
const REPORTS_LATER = `(x.type = 'workflow' AND (SELECT 1 FROM ${livingOwnChildren('x.id')} LIMIT 1) IS NOT NULL)`;
const remove = (name: string, whenHeld: string, tombstones = true) =>
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
      SELECT x.id, x.bucket, x.status, x.pending, x.type, x.target_name, x.input_hash, x.parent_id, x.tags, x.snapshot_ref
      FROM rhythm.executions x WHERE x.bucket = r.bucket AND ${isInTree('x.id', 'r.id')} FOR UPDATE OF x
    ) e
  ), removable AS MATERIALIZED (
    SELECT id, bucket, type, target_name, input_hash, parent_id, tags, snapshot_ref
    FROM locked WHERE root <> ALL(ARRAY(SELECT x.root FROM locked x WHERE ${UNREMOVABLE} OR ${REPORTS_LATER}))
  ), ${tombstones ? LEAVE_TOMBSTONES : ''} ${discardStatesOf('removable')}, ${OWNED_TABLES.map((table) => `no_${table} AS (DELETE FROM rhythm.${table} WHERE execution_id = ANY(ARRAY(SELECT id FROM removable))${table === 'steps' ? ' RETURNING execution_id, call' : ''})`).join(', ')},
  gone AS (DELETE FROM rhythm.executions WHERE id = ANY(ARRAY(SELECT id FROM removable)) RETURNING id)
  SELECT id FROM gone UNION ALL SELECT execution_id || ':' || call FROM no_steps`,
  );
const REMOVE = remove('remove_executions', '');
const REMOVE_FREE = remove('remove_free_executions', 'SKIP LOCKED');
const REMOVE_WHOLLY = remove('remove_executions_wholly', '', false);

const REMOVE_STEPS = sql(
  'remove_steps',
  `DELETE FROM rhythm.steps s USING unnest($1::text[], $2::smallint[], $3::text[], $4::integer[]) AS d(id, bucket, run, call)
  WHERE s.execution_id = d.run AND s.bucket = d.bucket AND s.call = d.call RETURNING d.id`,
);

/** How to remove. */
export interface RemoveOptions {
  /** Leave out runs that a start in an open transaction has found, instead of waiting for that transaction to end. */
  skipHeld?: boolean;
  /** Leave no tombstone: the ids may be used again. */
  wholly?: boolean;
}

/** Removes ended executions and their trees. A tree in which something has not ended is left as it is. Returns the removed ids, steps included. */
export async function removeExecutions(
  db: Runner,
  ids: readonly string[],
  { skipHeld = false, wholly = false }: RemoveOptions = {},
): Promise<string[]> {
  const removed = await db.rows<{ id: string }>(wholly ? REMOVE_WHOLLY : skipHeld ? REMOVE_FREE : REMOVE, [ids, ids.map(bucketOf)]);
  const steps = ids.filter(mayBeStep);
  if (steps.length > 0) removed.push(...(await db.rows<{ id: string }>(REMOVE_STEPS, idColumns(steps))));
  return removed.map((row) => row.id);
}
