// Time limits of whole executions that have passed: read, and locked with their executions to be ended.

import { CLOCK, millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { LIVE } from '../ended.js';
import type { ExecutionOptions } from '../new-execution.js';
import { isBelow, isChildWithOwnId } from '../relatives.js';
import { IS_LIMIT } from './scheduled-kinds.js';

/** The row of a time limit. */
export interface TimeLimit {
  id: string;
  bucket: number;
  kind: 'deadline' | 'start' | 'grace';
}

/** A time limit that has passed, with the execution that it ends. */
export interface Overdue extends TimeLimit {
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
  /** It has started; a start timeout no longer matters. Only read for start timeouts. */
  started: boolean;
  /** It waits for children, which are cancelled with it. */
  hasChildren: boolean;
}

// They are not moved but read, and enforced by a fenced write; the end of the execution deletes the row. Nothing is locked here: the
// order of locks is executions before schedules.
const OVERDUE = sql(
  'read_overdue',
  `SELECT s.execution_id AS id, s.bucket, s.kind FROM rhythm.scheduled_queue s
  WHERE s.due_at <= ${CLOCK} AND ${IS_LIMIT} ORDER BY s.due_at LIMIT $1 OFFSET $2`,
);

// The lock that an update takes: a start in a caller's open transaction, which found an execution, does not keep it out.
const LOCK_FREE = sql(
  'lock_free_overdue',
  `SELECT l.id FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket),
    LATERAL (SELECT e.id FROM rhythm.executions e WHERE e.id = d.id AND e.bucket = d.bucket FOR NO KEY UPDATE SKIP LOCKED) l`,
);
const LOCK_TIMEOUT = sql('overdue_lock_timeout', `SET LOCAL lock_timeout = '2s'`);
const LOCK = sql('lock_overdue', 'SELECT FROM rhythm.executions WHERE id = $1 AND bucket = $2 FOR NO KEY UPDATE');

// Read once more when the executions are locked: nobody moves them until they are ended. A task has started when its worker has
// marked it (`markStarted`); a workflow does nothing before its first commit, so a claim is enough.
const LIVING = `c.parent_call IS NOT NULL AND c.status IN ${LIVE}`;
const LOCKED = sql(
  'read_locked_overdue',
  `SELECT s.execution_id AS id, s.bucket, s.kind, e.type, e.fence, e.attempts, e.target_name AS name, e.parent_id AS "parentId", e.parent_call AS "parentCall",
    ${millis(CLOCK)} AS now, ${millis('e.created_at')} AS "createdAt",
    e.status, e.options, e.queue, e.version, e.pending, e.cancelled_at IS NOT NULL AS cancelled,
    s.kind = 'start' AND (e.started_at IS NOT NULL OR (e.type = 'workflow' AND EXISTS (SELECT 1 FROM rhythm.claims c WHERE e.id = ANY(c.ids)))) AS started,
    e.type = 'workflow' AND (e.pending IS NOT NULL OR (
      SELECT 1 FROM rhythm.executions c WHERE c.bucket = e.bucket AND ${isBelow('c.id', 'e.id')} AND c.parent_id = e.id AND ${LIVING} LIMIT 1
    ) IS NOT NULL OR (
      SELECT 1 FROM rhythm.executions c WHERE ${isChildWithOwnId('c.', 'e.id')} AND ${LIVING} LIMIT 1
    ) IS NOT NULL) AS "hasChildren"
  FROM unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, kind),
    LATERAL (SELECT * FROM rhythm.scheduled_queue t WHERE t.execution_id = d.id AND t.bucket = d.bucket AND t.kind = d.kind AND t.due_at <= ${CLOCK} OFFSET 0) s
    LEFT JOIN LATERAL (SELECT * FROM rhythm.executions x WHERE x.id = s.execution_id AND x.bucket = s.bucket OFFSET 0) e ON true
  ORDER BY s.due_at`,
);

const DROP = sql(
  'drop_scheduled',
  `DELETE FROM rhythm.scheduled_queue s USING unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, kind)
  WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.kind = d.kind`,
);

/** The time limits that have passed, oldest first, without so many of the first. */
export async function readOverdue(db: Runner, limit: number, skip = 0): Promise<TimeLimit[]> {
  return db.rows<TimeLimit>(OVERDUE, [limit, skip]);
}

/**
 * Locks the executions of time limits for the rest of the transaction, without those that somebody else has locked, and reads their limits
 * again: nobody moves them until they are ended. Without an execution there is nothing to lock; such a limit is returned too.
 */
export async function lockFreeOverdue(tx: Runner, limits: readonly TimeLimit[]): Promise<Overdue[]> {
  const locked = await tx.rows<{ id: string }>(LOCK_FREE, [limits.map(({ id }) => id), limits.map(({ bucket }) => bucket)]);
  const isLocked = new Set(locked.map(({ id }) => id));
  const read = await tx.rows<Overdue>(LOCKED, columns(limits));
  return read.filter(({ id, type }) => isLocked.has(id) || type === null);
}

/**
 * Locks the execution of one time limit for the rest of the transaction, waiting for whoever has it locked, and reads the limit again.
 * Returns undefined if the limit is gone. Fails with a lock timeout if somebody else keeps the execution locked.
 */
export async function lockOverdue(tx: Runner, limit: TimeLimit): Promise<Overdue | undefined> {
  await tx.rows(LOCK_TIMEOUT);
  await tx.rows(LOCK, [limit.id, limit.bucket]);
  return (await tx.rows<Overdue>(LOCKED, columns([limit])))[0];
}

/** Deletes time limits that no longer matter. */
export async function dropScheduled(db: Runner, limits: readonly TimeLimit[]): Promise<void> {
  await db.rows(DROP, columns(limits));
}

function columns(limits: readonly TimeLimit[]): unknown[] {
  return [limits.map(({ id }) => id), limits.map(({ bucket }) => bucket), limits.map(({ kind }) => kind)];
}
