// Takes runnable work from the queue for one worker.

import type { ExecutionOptions } from './insert-executions.js';
import { type Runner, sql } from './statement.js';

/** A claimed execution: all that a worker needs to run a task, or to load a workflow. */
export interface ClaimedItem {
  id: string;
  bucket: number;
  type: 'task' | 'workflow';
  name: string;
  queue: string;
  priority: number;
  status: 'pending' | 'suspended' | 'paused';
  /** What must still be true when the result is written. */
  fence: number;
  attempts: number;
  crashes: number;
  parentId: string | null;
  parentCall: number | null;
  version: string | null;
  options: ExecutionOptions | null;
  tags: string[] | null;
  progress: unknown;
  /** True for "run this task"; false for "look at your events". */
  run: boolean;
  /** JSON text of a task's input; null for `undefined` and for workflows. */
  input: string | null;
  /** When a workflow was started, in milliseconds; null for tasks. */
  createdAt: number | null;
  /** The run was told to cancel in an earlier turn. */
  cancelled: boolean;
}

/** What a claim brought. */
export interface Claim {
  claimId: string;
  items: ClaimedItem[];
  /** Queue rows taken; fewer than asked for means that the queues are empty. */
  taken: number;
  /** Executions that were woken and are not there to be run: they have ended, and what came for them too late can go. */
  ended: string[];
  /** The database's clock at the claim, in milliseconds. */
  now: number;
}

// Delete and lease row per batch: 48–57k tasks/s at batch 100 and 410–680 WAL bytes per task, against 27–39k and twice the
// WAL for status updates. Rows are deleted by ctid: they are locked here and never updated, so it cannot move. Executions
// are only read; two workers may hold the same run, and the fence lets one of them commit.
const CLAIM = sql(
  'claim_work',
  `WITH picked AS (
    DELETE FROM rhythm.work_queue WHERE ctid = ANY(ARRAY(
      SELECT p.ctid FROM unnest($3::text[]) AS q(name), LATERAL (
        SELECT w.ctid FROM rhythm.work_queue w WHERE w.queue = q.name ORDER BY w.rank, w.seq LIMIT $4 FOR UPDATE SKIP LOCKED
      ) p LIMIT $4
    ))
    RETURNING execution_id, bucket, rank, seq, fence
  ), items AS MATERIALIZED (
    SELECT p.rank, p.seq, p.fence IS NOT NULL AS run, e.id, e.bucket, e.type, e.target_name, e.queue, e.priority, e.status, e.fence,
      e.attempts, e.crashes, e.parent_id, e.parent_call, e.version, e.options, e.tags, e.progress, e.created_at, e.cancelled_at,
      CASE WHEN e.type = 'task' THEN coalesce(e.inputs_verbatim::text, e.inputs::text) END AS input
    FROM picked p JOIN rhythm.executions e ON e.id = p.execution_id AND e.bucket = p.bucket
    WHERE (p.fence = e.fence AND e.status = 'pending') OR (p.fence IS NULL AND e.status IN ('pending', 'suspended', 'paused'))
  ), held AS (
    INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences)
    SELECT $1, $2, array_agg(id), array_agg(bucket), array_agg(fence) FROM items HAVING count(*) > 0
  )
  SELECT (SELECT count(*) FROM picked) AS taken,
    (SELECT array_agg(p.execution_id) FROM picked p WHERE p.fence IS NULL AND p.execution_id <> ALL(ARRAY(SELECT id FROM items))) AS ended, (extract(epoch FROM now()) * 1000)::float8 AS now,
    i.id, i.bucket, i.type, i.target_name AS name, i.queue, i.priority, i.status, i.fence, i.attempts, i.crashes,
    i.parent_id AS "parentId", i.parent_call AS "parentCall", i.version, i.options, i.tags, i.progress, i.run, i.input,
    CASE WHEN i.type = 'workflow' THEN floor(extract(epoch FROM i.created_at) * 1000)::float8 END AS "createdAt", i.cancelled_at IS NOT NULL AS cancelled, i.rank, i.seq
  FROM (SELECT 1) one LEFT JOIN items i ON true`,
);

/** Claims up to `limit` rows of the given queues, the first queue first. The claim id is the worker's own choice. */
export async function claimWork(db: Runner, workerId: string, claimId: string, queues: readonly string[], limit: number): Promise<Claim> {
  type Row = ClaimedItem & { taken: number; ended: string[] | null; now: number; rank: number; seq: number };
  const rows = await db.rows<Row>(CLAIM, [workerId, claimId, queues, limit]);
  const items = rows.filter((row) => row.id !== null);
  items.sort((a, b) => a.rank - b.rank || a.seq - b.seq);
  return { claimId, items, taken: rows[0].taken, ended: rows[0].ended ?? [], now: rows[0].now };
}
