// Reads the state of the whole system for people: queues, workers, counts by status.

import { CLOCK, millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { NO_FENCE } from '../fence.js';
import { IS_RUN } from '../run/scheduled-kinds.js';
import { pendingStepRows, RUNS_WITH_STEPS, rowsNamed } from './execution-rows.js';
import { STATUS, WITH_HOLDER } from './read-execution.js';

export interface QueueStatus {
  queue: string;
  /** Runnable now; counted up to 10,000. */
  waiting: number;
  /** Runnable later; counted among the 10,000 of all queues that are due first. */
  scheduled: number;
  /** Claimed by a worker. */
  running: number;
  /** Age of the oldest execution that any of its workers could run. */
  oldestMs: number | null;
  /** Live workers that serve it; 0 with work waiting means that the work is not being done. */
  workers: number;
}

export interface WorkerStatus {
  workerId: string;
  host: string;
  pid: number;
  queues: string[];
  concurrency: number;
  codeVersion: string;
  startedAt: Date;
  beatAt: Date;
  /** Milliseconds since its last heartbeat, in real time by the database's clock. */
  silentMs: number;
  running: number;
}

// Counting a backlog of a million rows takes a second, and `status` is asked again and again.
const MOST_COUNTED = 10_000;

// The names of queues with waiting executions, one by one from the index: as many steps as there are queues.
const QUEUES_WITH_WORK = `work_names AS (
    (SELECT q.queue FROM rhythm.work_queue q ORDER BY q.queue LIMIT 1)
    UNION ALL
    SELECT (SELECT q.queue FROM rhythm.work_queue q WHERE q.queue > n.queue ORDER BY q.queue LIMIT 1) FROM work_names n WHERE n.queue IS NOT NULL
  )`;

// The first of each rank of a queue, in the same way: the oldest of all is among them.
const OLDEST = (queue: string) => `WITH RECURSIVE firsts AS (
      (SELECT q.rank, q.seq, q.execution_id, q.bucket FROM rhythm.work_queue q WHERE q.queue = ${queue} AND q.lane = '' ORDER BY q.rank, q.seq LIMIT 1)
      UNION ALL
      SELECT x.* FROM firsts f, LATERAL (SELECT q.rank, q.seq, q.execution_id, q.bucket FROM rhythm.work_queue q
        WHERE q.queue = ${queue} AND q.lane = '' AND q.rank > f.rank ORDER BY q.rank, q.seq LIMIT 1) x
    ) SELECT f.execution_id, f.bucket FROM firsts f ORDER BY f.seq LIMIT 1`;

const QUEUES = sql(
  'queue_status',
  `WITH RECURSIVE ${QUEUES_WITH_WORK},
  scheduled AS (SELECT e.queue, count(*)::integer AS n FROM (SELECT s.execution_id, s.bucket FROM rhythm.scheduled_queue s WHERE ${IS_RUN} ORDER BY s.due_at LIMIT ${MOST_COUNTED}) s,
    LATERAL (SELECT x.queue FROM rhythm.executions x WHERE x.id = s.execution_id AND x.bucket = s.bucket OFFSET 0) e GROUP BY e.queue),
  running AS (SELECT e.queue, count(*)::integer AS n FROM rhythm.claims c, unnest(c.ids, c.buckets, c.fences) AS i(id, bucket, fence),
    LATERAL (SELECT x.queue FROM rhythm.executions x WHERE x.id = i.id AND x.bucket = i.bucket AND x.fence = i.fence OFFSET 0) e GROUP BY e.queue
    UNION ALL SELECT e.queue, count(*)::integer FROM ${rowsNamed('e', pendingStepRows(RUNS_WITH_STEPS))} GROUP BY e.queue),
  served AS (SELECT q AS queue, count(*)::integer AS n FROM rhythm.worker_heartbeats w, unnest(w.queues) q WHERE w.beat_at > now() - make_interval(secs => $1 / 1000.0) GROUP BY q),
  names AS (SELECT queue FROM work_names WHERE queue IS NOT NULL UNION SELECT queue FROM scheduled UNION SELECT queue FROM running UNION SELECT queue FROM served)
  SELECT n.queue,
    (SELECT count(*)::integer FROM (SELECT 1 FROM rhythm.work_queue q WHERE q.queue = n.queue ORDER BY q.queue, q.lane, q.rank, q.seq LIMIT ${MOST_COUNTED}) q) AS waiting,
    coalesce(s.n, 0) AS scheduled, coalesce((SELECT sum(r.n)::integer FROM running r WHERE r.queue = n.queue), 0) AS running,
    coalesce(v.n, 0) AS workers,
    (SELECT ${millis(`${CLOCK} - e.created_at`)} FROM (${OLDEST('n.queue')}) q JOIN rhythm.executions e ON e.id = q.execution_id AND e.bucket = q.bucket) AS "oldestMs"
  FROM names n LEFT JOIN scheduled s USING (queue) LEFT JOIN served v USING (queue)
  ORDER BY n.queue`,
);

const UNSERVED_QUEUES = sql(
  'unserved_queues',
  `WITH RECURSIVE ${QUEUES_WITH_WORK}
  SELECT n.queue FROM work_names n
  WHERE n.queue IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rhythm.worker_heartbeats w WHERE n.queue = ANY(w.queues) AND w.beat_at > now() - make_interval(secs => $1 / 1000.0)) ORDER BY n.queue`,
);

const WORKERS = sql(
  'worker_status',
  `WITH in_place AS MATERIALIZED (SELECT e.worker_id FROM ${rowsNamed('e', pendingStepRows(RUNS_WITH_STEPS))})
  SELECT w.worker_id AS "workerId", w.host, w.pid, w.queues, w.concurrency, w.code_version AS "codeVersion", w.started_at AS "startedAt", w.beat_at AS "beatAt",
    ${millis('now() - w.beat_at')} AS "silentMs",
    (SELECT count(*)::integer FROM rhythm.claims c, unnest(c.fences) AS f(fence) WHERE c.worker_id = w.worker_id AND f.fence <> ${NO_FENCE})
      + (SELECT count(*)::integer FROM in_place e WHERE e.worker_id = w.worker_id) AS running
  FROM rhythm.worker_heartbeats w ORDER BY w.started_at`,
);

// Not the view: there is no index by time for steps that completed in place, and most rows of a large database are such steps. They
// are left out here as in lists.
const COUNTS = sql(
  'status_counts',
  `SELECT s.status, count(*)::integer AS n FROM (
    SELECT ${STATUS} AS status FROM rhythm.executions e ${WITH_HOLDER} WHERE e.created_at >= $1
    UNION ALL
    SELECT e.status FROM ${rowsNamed('e', pendingStepRows(RUNS_WITH_STEPS))} WHERE e.created_at >= $1
  ) s GROUP BY s.status`,
);

/** All queues that have work or a worker. A worker that has been silent for longer than this does not count. */
export async function readQueues(db: Runner, silentAfterMs: number): Promise<QueueStatus[]> {
  return db.rows<QueueStatus>(QUEUES, [silentAfterMs]);
}

/** The queues in which executions wait and which no worker serves. A worker that has been silent for longer than this does not count. */
export async function readUnservedQueues(db: Runner, silentAfterMs: number): Promise<string[]> {
  return (await db.rows<{ queue: string }>(UNSERVED_QUEUES, [silentAfterMs])).map(({ queue }) => queue);
}

export async function readWorkers(db: Runner): Promise<WorkerStatus[]> {
  return db.rows<WorkerStatus>(WORKERS);
}

/** How many executions created since a time are in each status; steps that completed in place are not counted. */
export async function countStatuses(db: Runner, since: Date): Promise<Record<string, number>> {
  const rows = await db.rows<{ status: string; n: number }>(COUNTS, [since]);
  return Object.fromEntries(rows.map((row) => [row.status, row.n]));
}
