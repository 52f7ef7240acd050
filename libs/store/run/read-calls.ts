// What a worker that keeps the states of runs reads: durable calls as they were made, and where kept states are stored.

import { millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { jsonText } from '../json-columns.js';
import type { ExecutionOptions } from '../new-execution.js';
import { isChildWithOwnId } from '../relatives.js';

/** A call that has a row: a task, a child workflow, a timer, or the timeout of a wait. */
export interface StoredCall {
  call: number;
  /** Of tasks and workflows. */
  id: string | null;
  name: string | null;
  queue: string | null;
  priority: number | null;
  version: string | null;
  /** JSON text. */
  input: string | null;
  options: ExecutionOptions | null;
  /** Of timers and timeouts, in milliseconds. */
  dueAt: number | null;
}

const EXECUTION = `e.id, e.target_name AS name, e.queue, e.priority, e.version, ${jsonText('inputs')} AS input, e.options, NULL::float8 AS "dueAt"`;

const CALLS = sql(
  'read_calls',
  `SELECT c.call, ${EXECUTION} FROM unnest($3::integer[]) AS c(call) JOIN rhythm.executions e ON e.id = $1 || ':' || c.call AND e.bucket = $2
  UNION ALL
  SELECT e.parent_call, ${EXECUTION} FROM rhythm.executions e WHERE ${isChildWithOwnId('e.', '$1')} AND e.parent_call = ANY($3)
  UNION ALL
  SELECT s.call::integer, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${millis('s.due_at')} FROM rhythm.scheduled_queue s
  WHERE s.execution_id = $1 AND s.bucket = $2 AND s.kind IN ('timer', 'timeout') AND s.call = ANY($3)`,
);

const KEPT_REFS = sql(
  'read_kept_refs',
  `SELECT turn, state_ref AS ref FROM rhythm.snapshots WHERE execution_id = $1 AND bucket = $2 AND state_ref IS NOT NULL`,
);

/** The stored ones of these calls. */
export async function readCalls(db: Runner, run: { id: string; bucket: number }, calls: readonly number[]): Promise<StoredCall[]> {
  return db.rows<StoredCall>(CALLS, [run.id, run.bucket, calls]);
}

/** Where the kept states of a run are stored, if not in their rows, by turn. */
export async function readKeptRefs(db: Runner, run: { id: string; bucket: number }): Promise<{ turn: number; ref: string }[]> {
  return db.rows(KEPT_REFS, [run.id, run.bucket]);
}
