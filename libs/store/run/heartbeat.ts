// Heartbeats of workers, in real time: whether a worker is alive does not depend on `rhythm.clock()`, which tests may move.

import { type Runner, sql } from '../connect/statement.js';

export interface WorkerDescription {
  workerId: string;
  host: string;
  pid: number;
  queues: readonly string[];
  /** The names of the tasks it can run. */
  tasks: readonly string[];
  concurrency: number;
  codeVersion: string;
}

const REGISTER = sql(
  'register_worker',
  `INSERT INTO rhythm.worker_heartbeats (worker_id, host, pid, queues, tasks, concurrency, code_version) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);
// After a failover the server is another process, or one that was started again: a standby that was promoted has served no
// worker before.
const WRITE = sql(
  'write_heartbeat',
  `UPDATE rhythm.worker_heartbeats SET beats = beats + 1, beat_at = now() WHERE worker_id = $1 RETURNING pg_postmaster_start_time()::text AS server`,
);
const REMOVE = sql('remove_worker', `DELETE FROM rhythm.worker_heartbeats WHERE worker_id = $1`);
const CLAIM_IDS = sql('claim_ids', `SELECT claim_id AS id FROM rhythm.claims WHERE worker_id = $1`);
const LOST = sql(
  'lost_items',
  `SELECT d.id, d.fence FROM unnest($1::text[], $2::smallint[], $3::bigint[]) AS d(id, bucket, fence)
  LEFT JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket WHERE e.fence IS DISTINCT FROM d.fence`,
);
/** The beats of a worker that has claims and no heartbeat. */
export const NO_HEARTBEAT = -1;

// A claim whose worker has no heartbeat row counts as a worker that is silent forever.
const READ = sql(
  'read_heartbeats',
  `SELECT worker_id AS "workerId", beats FROM rhythm.worker_heartbeats
  UNION ALL
  SELECT DISTINCT c.worker_id, ${NO_HEARTBEAT} FROM rhythm.claims c WHERE NOT EXISTS (SELECT 1 FROM rhythm.worker_heartbeats w WHERE w.worker_id = c.worker_id)`,
);

export async function registerWorker(db: Runner, worker: WorkerDescription): Promise<void> {
  await db.rows(REGISTER, [worker.workerId, worker.host, worker.pid, worker.queues, worker.tasks, worker.concurrency, worker.codeVersion]);
}

/** Writes a heartbeat. Returns which server took it, or undefined when the worker has been declared dead. */
export async function writeHeartbeat(db: Runner, workerId: string): Promise<string | undefined> {
  return (await db.rows<{ server: string }>(WRITE, [workerId]))[0]?.server;
}

/** Removes the worker; its claims must be gone by then. */
export async function removeWorker(db: Runner, workerId: string): Promise<void> {
  await db.rows(REMOVE, [workerId]);
}

/** The claims that the database has of this worker. */
export async function claimIds(db: Runner, workerId: string): Promise<string[]> {
  return (await db.rows<{ id: string }>(CLAIM_IDS, [workerId])).map((row) => row.id);
}

/** Those of the held executions that are no longer at the fence they were claimed at. */
export async function lostItems(
  db: Runner,
  held: readonly { id: string; bucket: number; fence: number }[],
): Promise<{ id: string; fence: number }[]> {
  return db.rows(LOST, [held.map((item) => item.id), held.map((item) => item.bucket), held.map((item) => item.fence)]);
}

/** How many heartbeats each worker has written. */
export async function readHeartbeats(db: Runner): Promise<{ workerId: string; beats: number }[]> {
  return db.rows(READ);
}
