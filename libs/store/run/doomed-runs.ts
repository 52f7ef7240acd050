// Runs that must not begin, because a run above them was cancelled after it had started them.

import { type Runner, sql } from '../connect/statement.js';
import { LIVE } from '../ended.js';
import { ancestorsOf, bucketOf } from '../ids.js';
import { wake } from '../work-queue.js';

// A cancellation goes down from parent to child, and would never reach the end of a tree that grows faster. What a cancelled run starts to
// clean up is younger than its cancellation: so is what a run between them starts that was cancelled itself, and is judged by its own
// cancellation. Handlers of a failure (`onFailure`) are not called by the run, and are not cancelled with it.
const DOOMED = sql(
  'read_doomed',
  `SELECT d.id, d.ancestor FROM unnest($1::text[], $2::smallint[], $3::text[], $4::text[]) AS d(id, bucket, ancestor, below)
  JOIN rhythm.executions a ON a.id = d.ancestor AND a.bucket = d.bucket
  JOIN rhythm.executions b ON b.id = d.below AND b.bucket = d.bucket
  WHERE a.cancelled_at IS NOT NULL AND b.created_at < a.cancelled_at AND b.cancelled_at IS NULL AND b.parent_call IS NOT NULL`,
);

// The runs between are cancelled first. Otherwise each of them would fail because of the child that was cancelled.
const CANCEL = sql(
  'cancel_between',
  `WITH asked AS MATERIALIZED (
    SELECT e.id, e.bucket, e.queue, e.priority FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
    WHERE e.status IN ${LIVE} AND e.cancelled_at IS NULL AND NOT EXISTS (
      SELECT FROM rhythm.inbox i WHERE i.execution_id = e.id AND i.bucket = e.bucket AND i.kind = 'cancel')
  ), requested AS (
    INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
    SELECT id, bucket, nextval('rhythm.event_seq'), 'cancel', 0, $3::json FROM asked
  )
  ${wake('asked', '')}`,
);

/** Of runs before their first turn, those that must not take it; the runs between them and the cancelled one are asked to cancel. */
export async function readDoomed(db: Runner, ids: readonly string[], reason: string): Promise<Set<string>> {
  const pairs = ids.flatMap((id) => ancestorsOf(id).map((pair) => ({ id, ...pair })));
  if (pairs.length === 0) return new Set();
  const columns = [
    pairs.map(({ id }) => id),
    pairs.map(({ id }) => bucketOf(id)),
    pairs.map(({ ancestor }) => ancestor),
    pairs.map(({ below }) => below),
  ];
  const doomed = await db.rows<{ id: string; ancestor: string }>(DOOMED, columns);
  const between = doomed.flatMap(({ id, ancestor: top }) =>
    ancestorsOf(id).flatMap(({ ancestor }) => (ancestor.length > top.length ? [ancestor] : [])),
  );
  const asked = [...new Set(between)].sort();
  if (asked.length > 0) await db.rows(CANCEL, [asked, asked.map(bucketOf), JSON.stringify(reason)]);
  return new Set(doomed.map(({ id }) => id));
}
