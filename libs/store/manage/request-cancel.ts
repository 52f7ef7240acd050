// Asks runs to cancel: an event like the rest, so it may join the caller's transaction.

import { type Runner, sql } from '../connect/statement.js';
import { LIVE } from '../ended.js';
import { bucketOf } from '../ids.js';
import { wake } from '../work-queue.js';

const CANCEL = sql(
  'request_cancel',
  `WITH asked AS (
    SELECT e.id, e.bucket, e.queue, e.priority, e.status
    FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
  ), requested AS (
    INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
    SELECT id, bucket, nextval('rhythm.event_seq'), 'cancel', 0, $3::json FROM asked WHERE status IN ${LIVE}
  ), woken AS (
    ${wake(`asked WHERE status IN ${LIVE}`, '')}
  )
  SELECT id, status, queue FROM asked`,
);

/**
 * Asks executions to cancel. Returns the status that each had, and its queue for a hint. One that had ended is left as it is;
 * unknown ids are absent.
 */
export async function requestCancel(
  db: Runner,
  ids: readonly string[],
  reason?: string,
): Promise<Map<string, { status: string; queue: string }>> {
  const rows = await db.rows<{ id: string; status: string; queue: string }>(CANCEL, [
    ids,
    ids.map(bucketOf),
    reason === undefined ? null : JSON.stringify(reason),
  ]);
  return new Map(rows.map(({ id, status, queue }) => [id, { status, queue }]));
}
