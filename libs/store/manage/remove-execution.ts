// Removes ended executions with everything that belongs to them.

import { type Runner, sql } from '../connect/statement.js';
import { ENDED } from '../ended.js';
import { bucketOf, idColumns, mayBeStep } from '../ids.js';
import { deleteOwned } from '../owned-rows.js';
import { isBelow, isInTree } from '../relatives.js';

const LEAVE_TOMBSTONES = `buried AS (
    INSERT INTO rhythm.tombstones (bucket, id, type, target_name, input_hash, parent_id, tags)
    SELECT bucket, id, type, target_name, input_hash, parent_id, tags FROM removable WHERE input_hash IS NOT NULL
    ON CONFLICT (id, bucket) DO UPDATE SET removed_at = excluded.removed_at, type = excluded.type, target_name = excluded.target_name,
      input_hash = excluded.input_hash, parent_id = excluded.parent_id, tags = excluded.tags
  ),`;
const DISCARD_STATES = `discarded AS (
    INSERT INTO rhythm.discarded_snapshots (execution_id, bucket, ref)
    SELECT id, bucket, snapshot_ref FROM removable WHERE snapshot_ref IS NOT NULL
    UNION
    SELECT s.execution_id, s.bucket, s.state_ref FROM removable d JOIN rhythm.snapshots s ON s.execution_id = d.id AND s.bucket = d.bucket
    WHERE s.state_ref IS NOT NULL
    ON CONFLICT DO NOTHING
  )`;

// Everything of a run is keyed by its id, and its steps are the range of ids that begin with it. The rows are locked before
// anything is deleted, and checked once more: one of them may have been retried since the statement began. A step in place that gets
// its row meanwhile would not be seen by this statement, so a run that had one when it began is left as it is.
// A run with a chosen id leaves a tombstone, unless it is erased. States outside the database are removed later, by a worker that has the
// snapshot store: what this transaction notes is not lost with this process.
const remove = (name: string, whenHeld: string, tombstones = true) =>
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
    SELECT e.id, e.bucket, e.status, e.pending, e.type, e.target_name, e.input_hash, e.parent_id, e.tags, e.snapshot_ref, r.id AS root FROM roots r
    JOIN rhythm.executions e ON e.bucket = r.bucket AND ${isInTree('e.id', 'r.id')}
    FOR UPDATE OF e
  ), removable AS MATERIALIZED (
    SELECT id, bucket, type, target_name, input_hash, parent_id, tags, snapshot_ref FROM locked WHERE root <> ALL(ARRAY(SELECT root FROM locked WHERE status NOT IN ${ENDED} OR pending IS NOT NULL))
  ), ${tombstones ? LEAVE_TOMBSTONES : ''} ${DISCARD_STATES}, ${deleteOwned('removable')}, gone AS (DELETE FROM rhythm.executions t USING removable d WHERE t.id = d.id AND t.bucket = d.bucket RETURNING t.id)
  SELECT id FROM gone
  UNION ALL SELECT s.execution_id || ':' || s.call FROM removable d JOIN rhythm.steps s ON s.execution_id = d.id AND s.bucket = d.bucket`,
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
