// States outside the database that no run needs any more: what is to be removed from the snapshot store, until that has been done.

import { CLOCK, inMs } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { bucketOf } from '../ids.js';

/** One state in the snapshot store. */
export interface DiscardedSnapshot {
  id: string;
  bucket: number;
  ref: string;
}

const DUE = sql(
  'due_discarded_snapshots',
  `SELECT execution_id AS id, bucket, ref FROM rhythm.discarded_snapshots WHERE retry_at <= ${CLOCK} ORDER BY retry_at LIMIT $1`,
);
const OF = sql(
  'discarded_snapshots_of',
  `SELECT s.execution_id AS id, s.bucket, s.ref FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
  JOIN rhythm.discarded_snapshots s ON s.execution_id = d.id AND s.bucket = d.bucket`,
);
const DONE = sql(
  'remove_discarded_snapshots',
  `DELETE FROM rhythm.discarded_snapshots s USING unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, ref)
  WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.ref = d.ref`,
);
const PUT_OFF = sql(
  'put_off_discarded_snapshots',
  `UPDATE rhythm.discarded_snapshots s SET retry_at = ${inMs('$4::float8')} FROM unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, ref)
  WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.ref = d.ref`,
);

const DISCARD = sql(
  'discard_snapshots',
  `INSERT INTO rhythm.discarded_snapshots (execution_id, bucket, ref, retry_at)
  SELECT id, bucket, ref, ${inMs('$4::float8')} FROM unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, ref) ON CONFLICT DO NOTHING`,
);

/** A CTE that notes the states outside the database of the executions in `source` (with `id`, `bucket`, `snapshot_ref`), which are deleted. */
export function discardStatesOf(source: string): string {
  return `discarded AS (
    INSERT INTO rhythm.discarded_snapshots (execution_id, bucket, ref)
    SELECT id, bucket, snapshot_ref FROM ${source} WHERE snapshot_ref IS NOT NULL
    UNION
    SELECT s.execution_id, s.bucket, s.state_ref FROM rhythm.snapshots s
    WHERE s.execution_id = ANY(ARRAY(SELECT id FROM ${source})) AND s.state_ref IS NOT NULL
    ON CONFLICT DO NOTHING
  )`;
}

/** Notes states that are to be removed after this long. */
export async function discardSnapshots(db: Runner, snapshots: readonly DiscardedSnapshot[], afterMs: number): Promise<void> {
  await db.rows(DISCARD, [...columns(snapshots), afterMs]);
}

/** States that are to be removed now. Two workers may get the same: removing one twice does no harm. */
export async function dueDiscardedSnapshots(db: Runner, limit: number): Promise<DiscardedSnapshot[]> {
  return db.rows<DiscardedSnapshot>(DUE, [limit]);
}

/** The discarded states of these executions. */
export async function discardedSnapshotsOf(db: Runner, ids: readonly string[]): Promise<DiscardedSnapshot[]> {
  return db.rows<DiscardedSnapshot>(OF, [ids, ids.map(bucketOf)]);
}

/** They have been removed from the snapshot store. */
export async function forgetDiscardedSnapshots(db: Runner, snapshots: readonly DiscardedSnapshot[]): Promise<void> {
  if (snapshots.length > 0) await db.rows(DONE, columns(snapshots));
}

/** The snapshot store could not remove them: try again after this long. */
export async function putOffDiscardedSnapshots(db: Runner, snapshots: readonly DiscardedSnapshot[], afterMs: number): Promise<void> {
  if (snapshots.length > 0) await db.rows(PUT_OFF, [...columns(snapshots), afterMs]);
}

function columns(snapshots: readonly DiscardedSnapshot[]): unknown[] {
  return [snapshots.map(({ id }) => id), snapshots.map(({ bucket }) => bucket), snapshots.map(({ ref }) => ref)];
}
