// An execution to be started: what it is, its columns, and the times at which something is due for it.

import { inMs } from './clock.js';
import { arrayText } from './connect/array-text.js';
import { bucketOf } from './ids.js';
import { jsonColumns } from './json-columns.js';

/** Retry policy of a single call; what is absent is decided by the task's declaration. */
export interface StoredRetry {
  maxAttempts?: number;
  backoff?: 'fixed' | 'exponential';
  delayMs?: number;
  maxDelayMs?: number;
  jitter?: boolean;
}

/** The task or workflow that is started when an execution fails. */
export interface StoredFailureHandler {
  type: 'task' | 'workflow';
  name: string;
  queue: string;
  priority: number;
  /** Of a workflow. */
  version?: string;
}

/** What one start asks for in addition to the declaration of its task; stored with the execution, readable by people. */
export interface ExecutionOptions {
  /** Time limit of one attempt. */
  timeoutMs?: number;
  /** How long it may wait before it starts. */
  startTimeoutMs?: number;
  /** Time limit of the whole execution. */
  totalTimeoutMs?: number;
  retry?: StoredRetry;
  /** Passed to the task; the execution's id when absent. */
  idempotencyKey?: string;
  onFailure?: StoredFailureHandler;
  /** Start after this many milliseconds of the database's clock … */
  delayMs?: number;
  /** … or at this time, ISO 8601. */
  runAt?: string;
}

/** An execution to be started. */
export interface NewExecution {
  id: string;
  /** The id was made by `newId` for this row alone: no other row can have it. */
  fresh?: boolean;
  type: 'task' | 'workflow';
  targetName: string;
  queue: string;
  priority?: number;
  /** JSON text; absent means `undefined`. */
  input?: string;
  /** Content hash, for workflows. */
  version?: string;
  parentId?: string;
  /** Negative for a child with an id of its own that a failing turn started: no call waits for it until the turn is run again. */
  parentCall?: number;
  tags?: readonly string[];
  options?: ExecutionOptions;
}

/** The columns of new executions, each an array in the order of the executions. */
export function executionColumns(executions: readonly NewExecution[]): (string | number | null)[][] {
  const inputs = executions.map(({ input }) => jsonColumns(input));
  return [
    executions.map(({ id }) => id),
    executions.map(({ id }) => bucketOf(id)),
    executions.map(({ type }) => type),
    executions.map(({ targetName }) => targetName),
    executions.map(({ queue }) => queue),
    executions.map(({ priority }) => priority ?? 0),
    executions.map(({ parentId }) => parentId ?? null),
    executions.map(({ parentCall }) => parentCall ?? null),
    executions.map(({ version }) => version ?? null),
    inputs.map(({ readable }) => readable),
    inputs.map(({ verbatim }) => verbatim),
    executions.map(({ tags }) => (tags?.length ? arrayText(tags) : null)),
    executions.map((execution) => (hasNoOptions(execution) ? null : JSON.stringify(execution.options))),
  ];
}

/** Whether an execution asks for nothing but what its declaration says. */
export function hasNoOptions({ options }: NewExecution): boolean {
  for (const _ in options) return false;
  return true;
}

/** The names of these columns, in the same order. */
export const EXECUTION_COLUMNS =
  'id, bucket, type, target_name, queue, priority, parent_id, parent_call, version, inputs, inputs_verbatim, tags, options';

/** The column that only executions with a chosen id have in addition: the hash of the input (`inputHash`). */
export const NAMED_COLUMN = 'input_hash';

/** Their values, from an unnest `d` of the arrays. */
export const EXECUTION_VALUES = `d.id, d.bucket, d.type, d.target_name, d.queue, d.priority, d.parent_id, d.parent_call, d.version,
      d.inputs::json, d.inputs_verbatim::json, d.tags::text[], d.options::jsonb`;

/** When a delayed execution is due, from its options. */
export const DUE_AFTER_DELAY = `WHEN options ? 'delayMs' THEN ${inMs(`(options->>'delayMs')::float8`)}`;

/** Rows of `scheduled_queue` for new executions `from` (with `due_at`, NULL when it is due now): a delayed start, and its time limits. */
export function schedule(from: string, fence: string): string {
  const limit = (
    kind: string,
    option: string,
  ) => `SELECT id, bucket, '${kind}', 0, coalesce(due_at, rhythm.clock()) + (options->>'${option}')::float8 * interval '1 millisecond', NULL
    FROM ${from} WHERE options ? '${option}'`;
  return `INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at, fence)
    SELECT id, bucket, 'run', 0, due_at, CASE WHEN type = 'task' THEN ${fence} END FROM ${from} WHERE due_at IS NOT NULL
    UNION ALL
    ${limit('deadline', 'totalTimeoutMs')}
    UNION ALL
    ${limit('start', 'startTimeoutMs')}`;
}
