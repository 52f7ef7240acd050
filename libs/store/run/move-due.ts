// Moves what is due from the scheduled queue: into the work queue, or as an event to its run.

import { CLOCK, CLOCK_NOW, millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ENDED_FOR_GOOD, LIVE } from '../ended.js';
import type { ExecutionOptions } from '../new-execution.js';
import { isBelow, isChildWithOwnId } from '../relatives.js';
import { queueRows } from '../work-queue.js';

/** What one move did. */
export interface MovedDue {
  moved: number;
  /** Milliseconds until the next row is due by the database's clock; null when nothing is scheduled. */
  nextInMs: number | null;
  /** Queues that got work. */
  queues: string[];
  /** There are time limits that have passed (`readOverdue`). */
  overdue: boolean;
}

// One round: at most `limit` rows, without those that another worker is moving. A timer fires only when the database's clock has
// passed its time, and its event and its wake are one commit. Deadlines are left to the engine (`overdue`). A `wake` is moved even
// if the run has ended: its signal was committed after that, and the claim of the wake deletes it.
// The wait for the next row is counted from the moment of the reply, because the statement itself may take long.
const MOVE = sql(
  'move_due',
  `WITH due AS (
    DELETE FROM rhythm.scheduled_queue WHERE ctid = ANY(ARRAY(
      SELECT s.ctid FROM rhythm.scheduled_queue s WHERE s.due_at <= ${CLOCK} AND s.kind = ANY('{run,timer,timeout,wake}'::text[])
      ORDER BY s.due_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ))
    RETURNING execution_id, bucket, kind, call, fence
  ), found AS MATERIALIZED (
    SELECT d.kind, d.call, d.fence, e.id, e.bucket, e.queue, e.priority FROM due d
    JOIN rhythm.executions e ON e.id = d.execution_id AND e.bucket = d.bucket AND (e.status NOT IN ${ENDED_FOR_GOOD} OR d.kind = 'wake')
  ), events AS (
    INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call)
    SELECT id, bucket, nextval('rhythm.event_seq'), kind, call FROM found WHERE kind IN ('timer', 'timeout')
  ), woken AS (
    ${queueRows('(SELECT DISTINCT queue, priority, id, bucket, fence FROM found) f', 'f.', 'f.fence')}
  )
  SELECT (SELECT count(*) FROM due)::integer AS moved, coalesce((SELECT array_agg(DISTINCT queue) FROM found), '{}') AS queues,
    (SELECT greatest(0, extract(epoch FROM s.due_at - ${CLOCK_NOW}) * 1000)::float8 FROM rhythm.scheduled_queue s
      WHERE s.due_at > ${CLOCK} ORDER BY s.due_at LIMIT 1) AS "nextInMs",
    EXISTS (SELECT 1 FROM rhythm.scheduled_queue s WHERE s.due_at <= ${CLOCK} AND s.kind = ANY('{deadline,start,grace}'::text[])) AS overdue`,
);

// Time limits of whole executions. They are not moved but read, and enforced by a fenced write; the end of the execution deletes
// the row. A task has started when its worker has marked it (`markStarted`); a workflow does nothing before its first commit, so
// a claim is enough.
const LIVING = `c.parent_call IS NOT NULL AND c.status IN ${LIVE}`;
const overdue = (name: string, which: string) =>
  sql(
    name,
    `SELECT s.execution_id AS id, s.bucket, s.kind, e.type, e.fence, e.attempts, e.target_name AS name, e.parent_id AS "parentId", e.parent_call AS "parentCall",
    ${millis(CLOCK)} AS now, ${millis('e.created_at')} AS "createdAt",
    e.status, e.options, e.queue, e.version, e.pending, e.cancelled_at IS NOT NULL AS cancelled,
    e.started_at IS NOT NULL OR (e.type = 'workflow' AND EXISTS (SELECT 1 FROM rhythm.claims c WHERE e.id = ANY(c.ids))) AS started,
    e.type = 'workflow' AND (e.pending IS NOT NULL OR EXISTS (
      SELECT 1 FROM rhythm.executions c WHERE c.bucket = e.bucket AND ${isBelow('c.id', 'e.id')} AND c.parent_id = e.id AND ${LIVING}
    ) OR EXISTS (
      SELECT 1 FROM rhythm.executions c WHERE ${isChildWithOwnId('c.', 'e.id')} AND ${LIVING}
    )) AS "hasChildren"
  FROM rhythm.scheduled_queue s LEFT JOIN rhythm.executions e ON e.id = s.execution_id AND e.bucket = s.bucket
  WHERE s.due_at <= ${CLOCK} AND ${which}`,
  );
const OVERDUE = overdue('read_overdue', `s.kind = ANY('{deadline,start,grace}'::text[]) ORDER BY s.due_at LIMIT $1`);
const OVERDUE_ONE = overdue('read_overdue_one', 's.execution_id = $1 AND s.bucket = $2 AND s.kind = $3');
const LOCK_TIMEOUT = sql('overdue_lock_timeout', `SET LOCAL lock_timeout = '1s'`);
// The lock that an update takes: a start in a caller's open transaction, which found this execution, does not keep it out.
const LOCK = sql('lock_overdue', 'SELECT FROM rhythm.executions WHERE id = $1 AND bucket = $2 FOR NO KEY UPDATE');

const DROP = sql(
  'drop_scheduled',
  `DELETE FROM rhythm.scheduled_queue s USING unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, kind)
  WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.kind = d.kind`,
);

/** A time limit that has passed. */
export interface Overdue {
  id: string;
  bucket: number;
  kind: 'deadline' | 'start' | 'grace';
  type: 'task' | 'workflow' | null;
  fence: number;
  attempts: number;
  name: string;
  queue: string;
  version: string | null;
  /** The steps of a run that have no rows, as JSON text. */
  pending: string | null;
  status: string;
  parentId: string | null;
  parentCall: number | null;
  options: Pick<ExecutionOptions, 'totalTimeoutMs' | 'startTimeoutMs' | 'onFailure'> | null;
  /** The database's clock, in milliseconds. */
  now: number;
  /** When it was started, in milliseconds. */
  createdAt: number;
  cancelled: boolean;
  /** It has started; a start timeout no longer matters. */
  started: boolean;
  /** It waits for children, which are cancelled with it. */
  hasChildren: boolean;
}

/** Moves one batch of due rows. */
export async function moveDue(db: Runner, limit = 1_000): Promise<MovedDue> {
  return (await db.rows<MovedDue>(MOVE, [limit]))[0];
}

/** The time limits that have passed, oldest first. */
export async function readOverdue(db: Runner, limit: number): Promise<Overdue[]> {
  return db.rows<Overdue>(OVERDUE, [limit]);
}

/**
 * Locks the execution of a time limit for the rest of the transaction, and reads the limit again: nobody moves the execution until it
 * is ended. Returns undefined if the limit is gone. Fails with a lock timeout if somebody else keeps the execution locked.
 */
export async function lockOverdue(tx: Runner, { id, bucket, kind }: Overdue): Promise<Overdue | undefined> {
  await tx.rows(LOCK_TIMEOUT);
  await tx.rows(LOCK, [id, bucket]);
  return (await tx.rows<Overdue>(OVERDUE_ONE, [id, bucket, kind]))[0];
}

/** Deletes time limits that no longer matter. */
export async function dropScheduled(db: Runner, rows: readonly { id: string; bucket: number; kind: string }[]): Promise<void> {
  await db.rows(DROP, [rows.map((row) => row.id), rows.map((row) => row.bucket), rows.map((row) => row.kind)]);
}
