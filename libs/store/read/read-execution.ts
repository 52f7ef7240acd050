// Reads executions for people: by id, with their results, as a tree.

import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE } from '../ended.js';
import { bucketOf } from '../ids.js';
import { jsonText } from '../json-columns.js';
import type { ExecutionOptions } from '../new-execution.js';
import { isChildWithOwnId, isInTree } from '../relatives.js';

/** An error as it is stored: plain data, of the same shape as the one that crosses the border of the language. */
export interface StoredError {
  name: string;
  message: string;
  code?: string;
  /** Any JSON value that the thrower attached. */
  data?: unknown;
  attempts?: number;
  /** Of a flow its own stack, never that of the host. */
  stack?: string;
  cause?: StoredError;
}

/** The status people see; `running` is derived from the claims. */
export type ExecutionStatus = 'pending' | 'running' | 'suspended' | 'paused' | 'completed' | 'failed' | 'cancelled';

/** An execution as the services show it. JSON columns are parsed. */
export interface ExecutionRecord {
  id: string;
  type: 'task' | 'workflow';
  name: string;
  queue: string;
  priority: number;
  status: ExecutionStatus;
  parentId: string | null;
  version: string | null;
  /** JSON text as it was given; null for `undefined`. */
  input: string | null;
  /** JSON text of the result; null for `undefined` and before the end. */
  output: string | null;
  error: StoredError | null;
  options: ExecutionOptions | null;
  tags: string[];
  attempts: number;
  crashes: number;
  progress: unknown;
  note: string | null;
  workerId: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** When the run received its cancellation. */
  cancelledAt: Date | null;
}

const heldWhere = (condition: string) => `SELECT DISTINCT ON (i.id, i.bucket, i.fence) i.id, i.bucket, i.fence, c.worker_id, c.claimed_at
  FROM rhythm.claims c, unnest(c.ids, c.buckets, c.fences) AS i(id, bucket, fence) ${condition} ORDER BY i.id, i.bucket, i.fence`;
const withHolder = (held: string) => `LEFT JOIN (${held}) h ON h.id = e.id AND h.bucket = e.bucket AND h.fence = e.fence`;

/** The holders of executions at this moment: one row per claimed execution. */
export const HELD = heldWhere('');

/** The status people see, from `executions e` left-joined with the holders `h`. */
export const STATUS = `CASE WHEN h.worker_id IS NOT NULL AND e.status IN ${ACTIVE} THEN 'running' ELSE e.status END`;

/** The columns of an `ExecutionRecord`, from `executions e` left-joined with the holders `h`. */
export const RECORD = `e.id, e.type, e.target_name AS name, e.queue, e.priority,
  ${STATUS} AS status,
  e.parent_id AS "parentId", e.version,
  ${jsonText('inputs')} AS input, ${jsonText('output')} AS output,
  e.error, e.options, coalesce(e.tags, '{}') AS tags, e.attempts, e.crashes, e.progress, e.note,
  coalesce(h.worker_id, e.worker_id) AS "workerId", e.created_at AS "createdAt",
  coalesce(e.started_at, h.claimed_at) AS "startedAt", e.finished_at AS "finishedAt", e.cancelled_at AS "cancelledAt"`;

/** Joins the holders to `executions e`. */
export const WITH_HOLDER = withHolder(HELD);

/** The same for the few executions of `page e`: other claimed executions are neither sorted nor compared. */
export const WITH_HOLDER_OF_PAGE = withHolder(heldWhere('WHERE i.id = ANY(ARRAY(SELECT id FROM page))'));

const GET = sql(
  'get_executions',
  `SELECT ${RECORD} FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
  JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket ${WITH_HOLDER}`,
);

const RESULTS = sql(
  'read_results',
  `SELECT e.id, e.status, ${jsonText('output')} AS output, e.error
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket`,
);

// Children have the parent's id as a prefix; those with an id of their own are found by the small index of strays.
const TREE = sql(
  'read_tree',
  `WITH RECURSIVE roots AS (
    SELECT $1::text COLLATE "C" AS id, $2::smallint AS bucket
    UNION
    SELECT s.id, s.bucket FROM roots r JOIN rhythm.executions p ON p.bucket = r.bucket AND ${isInTree('p.id', 'r.id')}
    JOIN rhythm.executions s ON ${isChildWithOwnId('s.', 'p.id')}
  )
  SELECT ${RECORD} FROM roots r JOIN rhythm.executions e ON e.bucket = r.bucket AND ${isInTree('e.id', 'r.id')}
  ${WITH_HOLDER} ORDER BY e.created_at, e.id LIMIT $3`,
);

/** One execution, or undefined. */
export async function getExecution(db: Runner, id: string): Promise<ExecutionRecord | undefined> {
  return (await getExecutions(db, [id]))[0];
}

export async function getExecutions(db: Runner, ids: readonly string[]): Promise<ExecutionRecord[]> {
  return db.rows<ExecutionRecord>(GET, [ids, ids.map(bucketOf)]);
}

/** The stored outcomes of executions; those that have not ended have status `pending`, `suspended` or `paused`. */
export async function readResults(
  db: Runner,
  ids: readonly string[],
): Promise<{ id: string; status: string; output: string | null; error: StoredError | null }[]> {
  return db.rows(RESULTS, [ids, ids.map(bucketOf)]);
}

/** A run with its children, their children and so on, oldest first. */
export async function readTree(db: Runner, id: string, limit = 10_000): Promise<ExecutionRecord[]> {
  return db.rows<ExecutionRecord>(TREE, [id, bucketOf(id), limit]);
}
