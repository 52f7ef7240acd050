// Moves what is due from the scheduled queue: into the work queue, or as an event to its run.

import { CLOCK, CLOCK_NOW } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ENDED_FOR_GOOD } from '../ended.js';
import { queueRows } from '../work-queue.js';
import { IS_LIMIT, IS_RUN, IS_TIMER } from './scheduled-kinds.js';

/** What one move did. */
export interface MovedDue {
  moved: number;
  /** Milliseconds until the next row is due by the database's clock; null when nothing is scheduled. */
  nextInMs: number | null;
  /** Queues that got work. */
  queues: string[];
  /** There are time limits that have passed (`readOverdue`). */
  overdue: boolean;
  /** Of the workers that are alive this is the first, so the one that others leave the exact times to. */
  leads: boolean;
}

/** Who moves. */
export interface Mover {
  workerId: string;
  /** A worker whose last heartbeat is older does not lead. */
  aliveMs: number;
}

// Rows of one kind in the order in which they are due. Each has an index of its own, so a backlog of one kind is not walked for another:
// with 300,000 timers due, looking for time limits among them took 67–99 ms of each move.
const due = (which: string) => `(SELECT s.ctid FROM rhythm.scheduled_queue s WHERE ${which} AND s.due_at <= ${CLOCK}
      ORDER BY s.due_at LIMIT $1 FOR UPDATE SKIP LOCKED)`;
const nextOf = (which: string) =>
  `(SELECT s.due_at FROM rhythm.scheduled_queue s WHERE ${which} AND s.due_at > ${CLOCK} ORDER BY s.due_at LIMIT 1)`;

// One round: at most `limit` rows of each kind, without those that another worker is moving. A timer fires only when the database's
// clock has passed its time, and its event and its wake are one commit. Deadlines are left to the engine (`overdue`). A `wake` is
// moved even if the run has ended: its signal was committed after that, and the claim of the wake deletes it.
// The wait for the next row is counted from the moment of the reply, because the statement itself may take long.
// The first of the living workers is found without a lock: after its death, or while nobody knows of it, the others find by polling
// what is due, and a lock would be kept by a worker that is frozen.
const MOVE = sql(
  'move_due',
  `WITH due AS (
    DELETE FROM rhythm.scheduled_queue WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${due(IS_RUN)} r UNION ALL SELECT ctid FROM ${due(IS_TIMER)} t
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
    greatest(0, extract(epoch FROM least(${[IS_RUN, IS_TIMER, IS_LIMIT].map(nextOf).join(', ')}) - ${CLOCK_NOW}) * 1000)::float8 AS "nextInMs",
    EXISTS (SELECT 1 FROM rhythm.scheduled_queue s WHERE ${IS_LIMIT} AND s.due_at <= ${CLOCK}) AS overdue,
    coalesce($2 = (SELECT w.worker_id FROM rhythm.worker_heartbeats w WHERE w.beat_at > now() - $3::float8 * interval '1 millisecond'
      ORDER BY w.worker_id LIMIT 1), true) AS leads`,
);

/** Moves one batch of due rows. */
export async function moveDue(db: Runner, limit = 1_000, mover?: Mover): Promise<MovedDue> {
  return (await db.rows<MovedDue>(MOVE, [limit, mover?.workerId ?? null, mover?.aliveMs ?? 0]))[0];
}
