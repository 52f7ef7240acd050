// Reads executions for people: by id, with their results, as a tree. A step is found whether it has a row of its own or not.

import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE } from '../ended.js';
import { NO_FENCE } from '../fence.js';
import { bucketOf, idColumns, rootOf } from '../ids.js';
import { jsonText } from '../json-columns.js';
import { readTombstones } from '../manage/tombstones.js';
import type { ExecutionOptions } from '../new-execution.js';
import { isChildWithOwnId, isInTree } from '../relatives.js';
import { endedStepRows, ownRows, pendingStepRows, ROWS_OF_IDS, rowsNamed } from './execution-rows.js';

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
export const HELD = heldWhere(`WHERE i.fence <> ${NO_FENCE}`);

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

const GET = sql('get_executions', `SELECT ${RECORD} FROM ${ROWS_OF_IDS} ${WITH_HOLDER}`);

const RESULTS = sql('read_results', `SELECT e.id, e.status, ${jsonText('output')} AS output, e.error FROM ${ROWS_OF_IDS}`);
const EXPIRED = sql(
  'read_expired',
  `SELECT d.id FROM unnest($1::text[], $2::smallint[], $3::text[], $4::integer[]) AS d(id, bucket, run, call)
  JOIN rhythm.executions r ON r.id = d.run AND r.bucket = d.bucket WHERE d.call <= r.calls`,
);

// With OFFSET the rows of each tree are looked up by the key. As a join the range is expected to be so large that the whole table is
// read instead: 50 ms with 200,000 executions and 300,000 steps.
const inTree = (table: 'executions' | 'steps', id: string) =>
  `LATERAL (SELECT * FROM rhythm.${table} t WHERE t.bucket = o.bucket AND ${isInTree(`t.${id}`, 'o.id')} OFFSET 0)`;

// Children have the parent's id as a prefix; those with an id of their own are found by the small index of strays.
const TREE = sql(
  'read_tree',
  `WITH RECURSIVE roots AS (
    SELECT $1::text COLLATE "C" AS id, $2::smallint AS bucket
    UNION
    SELECT s.id, s.bucket FROM roots o, ${inTree('executions', 'id')} p,
      LATERAL (SELECT * FROM rhythm.executions c WHERE ${isChildWithOwnId('c.', 'p.id')} OFFSET 0) s
  ), found AS MATERIALIZED (
    SELECT e.* FROM ${rowsNamed(
      'e',
      ownRows(`roots o, ${inTree('executions', 'id')} e`),
      endedStepRows(`roots o, ${inTree('steps', 'execution_id')} s`),
      pendingStepRows(`roots o, ${inTree('executions', 'id')} r`, 'r.pending IS NOT NULL'),
    )} ORDER BY e.created_at, e.parent_call, e.id LIMIT $3
  )
  SELECT ${RECORD} FROM found e ${WITH_HOLDER} ORDER BY e.created_at, e.parent_call, e.id`,
);

/** One execution, or undefined. */
export async function getExecution(db: Runner, id: string): Promise<ExecutionRecord | undefined> {
  return (await getExecutions(db, [id]))[0];
}

export async function getExecutions(db: Runner, ids: readonly string[]): Promise<ExecutionRecord[]> {
  return db.rows<ExecutionRecord>(GET, idColumns(ids));
}

/** The stored outcome of an execution. */
export interface StoredResult {
  id: string;
  /** As it is stored; `running` only for a step in place, `expired` for a call of a run that has no row any more, `removed` for what has a tombstone. */
  status: string;
  output: string | null;
  error: StoredError | null;
}

/** The stored outcomes of executions; those that have not ended have status `pending`, `running`, `suspended` or `paused`. */
export async function readResults(db: Runner, ids: readonly string[]): Promise<StoredResult[]> {
  const rows = await db.rows<StoredResult>(RESULTS, idColumns(ids));
  if (rows.length === ids.length) return rows;
  const found = new Set(rows.map(({ id }) => id));
  const gone = await readRemoved(
    db,
    ids.filter((id) => !found.has(id)),
  );
  const removed = gone.map((id) => ({ id, status: 'removed', output: null, error: null }));
  return [...rows, ...removed, ...(await readExpired(db, ids, new Set([...found, ...gone])))];
}

// A call of a removed run is gone with it.
async function readRemoved(db: Runner, ids: readonly string[]): Promise<string[]> {
  const roots = new Set((await readTombstones(db, [...new Set(ids.flatMap((id) => [id, rootOf(id)]))])).map(({ id }) => id));
  return ids.filter((id) => roots.has(id) || roots.has(rootOf(id)));
}

async function readExpired(db: Runner, ids: readonly string[], known: ReadonlySet<string>): Promise<StoredResult[]> {
  const missing = ids.filter((id) => id.includes(':') && !known.has(id));
  if (missing.length === 0) return [];
  const expired = await db.rows<{ id: string }>(EXPIRED, idColumns(missing));
  if (expired.length === 0) return [];
  // A step may have got its row between the two reads.
  const late = await db.rows<StoredResult>(RESULTS, idColumns(expired.map(({ id }) => id)));
  const isLate = new Set(late.map(({ id }) => id));
  const ends = expired.filter(({ id }) => !isLate.has(id)).map(({ id }) => ({ id, status: 'expired', output: null, error: null }));
  return [...late, ...ends];
}

/** A run with its children, their children and so on, oldest first. */
export async function readTree(db: Runner, id: string, limit = 10_000): Promise<ExecutionRecord[]> {
  return db.rows<ExecutionRecord>(TREE, [id, bucketOf(id), limit]);
}
