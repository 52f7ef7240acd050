// Lanes of a queue: every worker of the queue claims from the main lane, only workers with a certain task from the lane of that task.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { newFence } from '../fence.js';
import { type Claim, type ClaimedItem, claimStatement, readClaim } from './claim-work.js';

/** A lane of a queue other than the main one. */
export interface Lane {
  queue: string;
  /** The task that a worker must have to claim from it. */
  task: string;
}

/** Work that waits for a task which no live worker of its queue has. */
export interface UnservedTask extends Lane {
  waiting: number;
  /** How long the oldest of them has waited since its start, in milliseconds. */
  oldestMs: number;
}

const PREFIX = 't:';

// A live worker of the queue that has the task; `q` and `t` are expressions for the two names.
const served = (q: string, t: string) =>
  `EXISTS (SELECT 1 FROM rhythm.worker_heartbeats live WHERE ${q} = ANY(live.queues) AND ${t} = ANY(live.tasks))`;

// The row is moved to the lane of its task and keeps its place by age. The fence is replaced, so that repeating this statement after a
// lost reply moves nothing. The claims end with it, as when work is given back.
const MOVE = sql(
  'move_to_lanes',
  `WITH gone AS (DELETE FROM rhythm.claims c WHERE c.worker_id = $1 AND c.claim_id = ANY($2)
  ), moved AS (
    UPDATE rhythm.executions e SET fence = $8, note = CASE WHEN ${served('e.queue', 'e.target_name')} THEN e.note ELSE i.note END
    FROM unnest($3::text[], $4::smallint[], $5::bigint[], $6::bigint[], $7::text[]) AS i(id, bucket, fence, seq, note)
    WHERE e.id = i.id AND e.bucket = i.bucket AND e.fence = i.fence AND e.status = 'pending'
    RETURNING e.queue, e.target_name, -e.priority AS rank, i.seq, e.bucket, e.id, e.fence
  )
  INSERT INTO rhythm.work_queue (queue, lane, rank, seq, bucket, execution_id, fence)
  SELECT queue, '${PREFIX}' || target_name, rank, seq, bucket, id, fence FROM moved`,
);

// One probe of the index per lane, however many rows a lane has.
const LANES = sql(
  'read_lanes',
  `SELECT q.name AS queue, substr(l.lane, ${PREFIX.length + 1}) AS task FROM unnest($1::text[]) AS q(name), LATERAL (
    WITH RECURSIVE lanes AS (
      (SELECT w.lane FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane > '' ORDER BY w.lane LIMIT 1)
      UNION ALL
      SELECT (SELECT w.lane FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane > p.lane ORDER BY w.lane LIMIT 1) FROM lanes p WHERE p.lane IS NOT NULL
    ) SELECT lane FROM lanes WHERE lane IS NOT NULL
  ) l`,
);

const CLAIM = claimStatement(
  'claim_lanes',
  `unnest($3::text[], $5::text[]) AS q(name, lane), LATERAL (
        SELECT w.ctid FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane = q.lane ORDER BY w.rank, w.seq LIMIT $4 FOR UPDATE SKIP LOCKED
      )`,
  // The note is about the lack of a worker that has the task.
  {
    more: `, unnoted AS (UPDATE rhythm.executions e SET note = NULL FROM items i WHERE e.id = i.id AND e.bucket = i.bucket AND e.fence = i.fence AND e.note IS NOT NULL)`,
  },
);

// For lanes that no worker claims from: the worker that had the task may be gone, and nothing else deletes the rows of tasks that
// were cancelled or paused meanwhile. Only the first rows of each lane, so that a long one costs no more.
const UPDATE = sql(
  'update_unserved_lanes',
  `WITH first AS MATERIALIZED (
    SELECT w.* FROM unnest($1::text[], $2::text[], $3::text[]) AS d(queue, lane, task), LATERAL (
      SELECT w.queue, w.lane, w.rank, w.seq, w.bucket, w.execution_id, w.fence, d.task FROM rhythm.work_queue w
      WHERE w.queue = d.queue AND w.lane = d.lane AND NOT ${served('d.queue', 'd.task')} ORDER BY w.rank, w.seq LIMIT $4
    ) w
  ), noted AS (
    UPDATE rhythm.executions e SET note = format($5, f.task) FROM first f
    WHERE e.id = f.execution_id AND e.bucket = f.bucket AND e.fence = f.fence AND e.status = 'pending' AND e.note IS NULL
  )
  DELETE FROM rhythm.work_queue w USING first f
  WHERE w.queue = f.queue AND w.lane = f.lane AND w.rank = f.rank AND w.seq = f.seq AND w.bucket = f.bucket
    AND NOT EXISTS (SELECT 1 FROM rhythm.executions e WHERE e.id = f.execution_id AND e.bucket = f.bucket AND e.fence = f.fence AND e.status = 'pending')`,
);

const UNSERVED = sql(
  'unserved_tasks',
  `SELECT w.queue, substr(w.lane, ${PREFIX.length + 1}) AS task, count(*)::integer AS waiting,
    max(extract(epoch FROM ${CLOCK} - e.created_at) * 1000)::float8 AS "oldestMs"
  FROM rhythm.work_queue w JOIN rhythm.executions e ON e.id = w.execution_id AND e.bucket = w.bucket AND e.fence = w.fence AND e.status = 'pending'
  WHERE w.lane > '' AND NOT ${served('w.queue', `substr(w.lane, ${PREFIX.length + 1})`)} GROUP BY w.queue, w.lane ORDER BY w.queue, w.lane`,
);

const MOST_ROWS = 1_000;

/** The note of an execution while no live worker has its task. */
export function noWorkerHas(task: string): string {
  return `No live worker of its queue has task "${task}". It waits for one; start a worker with this task, or cancel it.`;
}

/** Moves claimed tasks that this worker does not have to the lanes of those tasks, and deletes the claims that have no other items left. */
export async function moveToLanes(
  db: Runner,
  workerId: string,
  items: readonly (Pick<ClaimedItem, 'id' | 'bucket' | 'fence' | 'seq'> & { note: string })[],
  doneClaims: readonly string[],
  fence = newFence(),
): Promise<void> {
  await db.rows(MOVE, [
    workerId,
    doneClaims,
    items.map((item) => item.id),
    items.map((item) => item.bucket),
    items.map((item) => item.fence),
    items.map((item) => item.seq),
    items.map((item) => item.note),
    fence,
  ]);
}

/** The lanes of these queues that are not empty. */
export async function readLanes(db: Runner, queues: readonly string[]): Promise<Lane[]> {
  return db.rows<Lane>(LANES, [queues]);
}

/** Claims up to `limit` rows of these lanes. */
export async function claimLanes(db: Runner, workerId: string, claimId: string, lanes: readonly Lane[], limit: number): Promise<Claim> {
  return readClaim(db, CLAIM, claimId, [workerId, claimId, lanes.map(({ queue }) => queue), limit, lanes.map(laneOf)]);
}

/** Writes a note on executions in lanes that no live worker serves, and deletes queue rows that are obsolete. */
export async function updateUnservedLanes(db: Runner, lanes: readonly Lane[]): Promise<void> {
  if (lanes.length === 0) return;
  await db.rows(UPDATE, [lanes.map(({ queue }) => queue), lanes.map(laneOf), lanes.map(({ task }) => task), MOST_ROWS, noWorkerHas('%s')]);
}

/** Tasks that executions wait for and no live worker has, for people. */
export async function readUnserved(db: Runner): Promise<UnservedTask[]> {
  return db.rows<UnservedTask>(UNSERVED);
}

function laneOf({ task }: Lane): string {
  return PREFIX + task;
}
