// Asks executions to cancel: an event like the rest, so it may join the caller's transaction. A step in place is cancelled by its run.

import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE, LIVE } from '../ended.js';
import { bucketOf, idColumns, mayBeStep } from '../ids.js';
import { stepField } from '../pending-steps.js';
import { cancelSteps } from '../run/take-steps.js';
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

const CANCEL_STEPS = sql(
  'request_step_cancel',
  `WITH asked AS MATERIALIZED (
    SELECT d.id, d.call, r.id AS run, r.bucket, r.queue, r.priority, r.status FROM unnest($1::text[], $2::smallint[], $3::text[], $4::integer[]) AS d(id, bucket, run, call)
    JOIN rhythm.executions r ON r.id = d.run AND r.bucket = d.bucket
    WHERE EXISTS (SELECT FROM json_array_elements(r.pending::json) AS p(step) WHERE (${stepField('p.step', 'call')})::integer = d.call)
  ), requested AS (
    INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
    SELECT run, bucket, nextval('rhythm.event_seq'), 'cancel-step', call, $5::json FROM asked WHERE status IN ${ACTIVE}
  ), woken AS (
    ${wake(`(SELECT DISTINCT run AS id, bucket, queue, priority FROM asked WHERE status IN ${ACTIVE}) w`, 'w.')}
  )
  SELECT id, 'running' AS status, queue, status NOT IN ${ACTIVE} AS "isLeft" FROM asked
  UNION ALL
  SELECT d.id, 'completed', 'default', false FROM unnest($1::text[], $2::smallint[], $3::text[], $4::integer[]) AS d(id, bucket, run, call)
  JOIN rhythm.steps s ON s.execution_id = d.run AND s.bucket = d.bucket AND s.call = d.call`,
);

/**
 * Asks executions to cancel. Returns the status that each had, and its queue for a hint. One that had ended is left as it is;
 * unknown ids are absent.
 */
export async function requestCancel(db: Runner, ids: readonly string[], reason?: string): Promise<Map<string, CancelOutcome>> {
  const payload = reason === undefined ? null : JSON.stringify(reason);
  const outcomes = await cancelRows(db, ids, payload);
  const steps = ids.filter((id) => !outcomes.has(id) && mayBeStep(id));
  if (steps.length === 0) return outcomes;
  const found = await db.rows<CancelOutcome & { id: string; isLeft: boolean }>(CANCEL_STEPS, [...idColumns(steps), payload]);
  for (const { id, status, queue } of found) outcomes.set(id, { status, queue });
  // A run that has ended or is paused reads no events, so its steps get rows. Others may have got one since the first statement.
  const left = found.filter(({ isLeft }) => isLeft).map(({ id }) => id);
  const cancelled = new Set<string>();
  for (const { id, queue } of await cancelSteps(db, left, payload)) {
    cancelled.add(id);
    outcomes.set(id, { status: 'running', queue });
  }
  const missing = steps.filter((id) => !outcomes.has(id) || (left.includes(id) && !cancelled.has(id)));
  for (const [id, outcome] of missing.length > 0 ? await cancelRows(db, missing, payload) : []) outcomes.set(id, outcome);
  return outcomes;
}

/** What an execution was when it was asked to cancel. */
export interface CancelOutcome {
  status: string;
  queue: string;
}

async function cancelRows(db: Runner, ids: readonly string[], payload: string | null): Promise<Map<string, CancelOutcome>> {
  const rows = await db.rows<CancelOutcome & { id: string }>(CANCEL, [ids, ids.map(bucketOf), payload]);
  return new Map(rows.map(({ id, status, queue }) => [id, { status, queue }]));
}
