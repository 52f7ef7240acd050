// Starts executions: one statement for any number of them, in the caller's transaction or the engine's.

import { type ArrayType, arrayBytes } from './array-bytes.js';
import { arrayText } from './array-text.js';
import { newFence } from './fence.js';
import { bucketOf } from './ids.js';
import { jsonColumns } from './json-columns.js';
import { type Runner, sql } from './statement.js';

/** Retry policy that a single call asks for; what is absent is decided by the task's declaration. */
export interface StoredRetry {
  maxAttempts?: number;
  backoff?: 'fixed' | 'exponential';
  delayMs?: number;
  maxDelayMs?: number;
  jitter?: boolean;
}

/** What one start asks for beyond the declaration of its task; stored with the execution, readable by people. */
export interface ExecutionOptions {
  /** Bound of one attempt. */
  timeoutMs?: number;
  /** How long it may wait before it starts. */
  startTimeoutMs?: number;
  /** Bound of the whole execution. */
  totalTimeoutMs?: number;
  retry?: StoredRetry;
  /** Handed to the task; the execution's id when absent. */
  idempotencyKey?: string;
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
  /** Negative for a child with an id of its own that a failing turn started: nobody waits for it until the turn is run again. */
  parentCall?: number;
  tags?: readonly string[];
  options?: ExecutionOptions;
}

/**
 * What became of one start. `existing`: the same run was there already; `conflict`: the id belongs to a different one;
 * `contended`: nothing was started, because runs of that id came and went faster than it could be told which of them it is.
 */
export interface StartOutcome {
  id: string;
  outcome: 'created' | 'existing' | 'conflict' | 'contended';
  /** What differs, for a conflict. */
  differs?: 'type' | 'name' | 'input';
}

// Only inserts, on keys that no other transaction can share (a caller's own id may wait for its twin): an open user
// transaction holds nobody up. The due times are read from the inserted options, so that no CTE joins another.
// They count from statement_timestamp(): now() is when the caller's transaction began, which may be long ago.
// Each row has a time of its own: lists are read by the index on time, which leaves ties to be sorted (a million rows of one
// instant: 0.7 s per page).
// ON CONFLICT makes every insert a tentative one that is confirmed by a second record, 48 bytes of WAL per row; ids that
// nobody else can have go without.
const insert = (name: string, onConflict: string) =>
  sql(
    name,
    `WITH new AS (
    INSERT INTO rhythm.executions (fence, created_at, id, bucket, type, target_name, queue, priority, parent_id, parent_call, version, inputs, inputs_verbatim, tags, options)
    SELECT $14::bigint, clock_timestamp(), d.id, d.bucket, d.type, d.target_name, d.queue, d.priority, d.parent_id, d.parent_call, d.version,
      d.inputs::json, d.inputs_verbatim::json, d.tags::text[], d.options::jsonb
    FROM unnest($1::text[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::integer[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])
      AS d(id, bucket, type, target_name, queue, priority, parent_id, parent_call, version, inputs, inputs_verbatim, tags, options)
    ${onConflict}
    RETURNING id, bucket, type, queue, priority, options,
      CASE WHEN options ? 'runAt' THEN (options->>'runAt')::timestamptz
           WHEN options ? 'delayMs' THEN statement_timestamp() + (options->>'delayMs')::float8 * interval '1 millisecond' END AS due_at
  ), queued AS (
    INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
    SELECT queue, -priority, nextval('rhythm.queue_seq'), bucket, id, CASE WHEN type = 'task' THEN $14::bigint END FROM new WHERE due_at IS NULL
  ), scheduled AS (
    INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at, fence)
    SELECT id, bucket, 'run', 0, due_at, CASE WHEN type = 'task' THEN $14::bigint END FROM new WHERE due_at IS NOT NULL
    UNION ALL
    SELECT id, bucket, 'deadline', 0, coalesce(due_at, statement_timestamp()) + (options->>'totalTimeoutMs')::float8 * interval '1 millisecond', NULL
    FROM new WHERE options ? 'totalTimeoutMs'
    UNION ALL
    SELECT id, bucket, 'start', 0, coalesce(due_at, statement_timestamp()) + (options->>'startTimeoutMs')::float8 * interval '1 millisecond', NULL
    FROM new WHERE options ? 'startTimeoutMs'
  )
  SELECT ${onConflict ? 'id FROM new' : '1 WHERE false'}`,
  );
const INSERT_FRESH = insert('insert_fresh', '');
const INSERT = insert('insert_executions', 'ON CONFLICT (id, bucket) DO NOTHING');

// A start in a caller's transaction that is given a run back keeps that run from being removed until the transaction ends: what
// the caller was told is true when it commits. The lock is the weakest there is; nothing but a removal waits for it. Outside of a
// transaction the answer is true when it is read, and the read writes nothing.
const twins = (name: string, lock: string) =>
  sql(
    name,
    `SELECT e.id, e.type, e.target_name, coalesce(e.inputs_verbatim::text, e.inputs::text) AS input
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket ${lock}`,
  );
const TWINS = twins('read_twins', '');
const HELD_TWINS = twins('hold_twins', 'FOR KEY SHARE OF e');

// A run that was in the way of the insert may be removed before it is read; then the insert is tried again. Each further try
// needs another run of the same id that comes and goes between two statements.
const TRIES = 10;

/** Where a start stands. */
export interface InsertOptions {
  /** The runner is an open transaction of the caller's. */
  inTransaction?: boolean;
}

/** Inserts executions with their queue rows or due times. The same id and input again is the same run. */
export async function insertExecutions(
  db: Runner,
  executions: readonly NewExecution[],
  { inTransaction = false }: InsertOptions = {},
): Promise<StartOutcome[]> {
  if (executions.every(({ fresh }) => fresh)) {
    await db.rows(INSERT_FRESH, parameters(executions));
    return executions.map(({ id }) => ({ id, outcome: 'created' }));
  }
  const inserted = new Set<string>();
  const existing = new Map<string, Twin>();
  const isKnown = ({ id }: NewExecution) => inserted.has(id) || existing.has(id);
  let open = executions;
  for (let tries = 0; open.length > 0 && tries < TRIES; tries++) {
    for (const { id } of await db.rows<{ id: string }>(INSERT, parameters(open))) inserted.add(id);
    if (inserted.size === executions.length) break;
    const ids = twinsAmong(open, inserted);
    for (const twin of await db.rows<Twin>(inTransaction ? HELD_TWINS : TWINS, [ids, ids.map(bucketOf)])) existing.set(twin.id, twin);
    open = open.filter((execution) => !isKnown(execution));
  }
  const seen = new Set<string>();
  return executions.map((execution) => {
    const { id } = execution;
    // An id given twice in one batch is its own twin.
    if (inserted.has(id) && !seen.has(id)) {
      seen.add(id);
      return { id, outcome: 'created' };
    }
    const twin = existing.get(id);
    if (!twin) return { id, outcome: 'contended' };
    const differs = difference(execution, twin);
    return differs ? { id, outcome: 'conflict', differs } : { id, outcome: 'existing' };
  });
}

/** The run that has the id of a start. */
interface Twin {
  id: string;
  type: string;
  target_name: string;
  input: string | null;
}

// The ids that were taken, and those that were given twice.
function twinsAmong(executions: readonly NewExecution[], inserted: ReadonlySet<string>): string[] {
  const seen = new Set<string>();
  const twins = new Set<string>();
  for (const { id } of executions) {
    if (!inserted.has(id) || seen.has(id)) twins.add(id);
    seen.add(id);
  }
  return [...twins];
}

function difference(mine: NewExecution, theirs: Twin): StartOutcome['differs'] {
  if (mine.type !== theirs.type) return 'type';
  if (mine.targetName !== theirs.target_name) return 'name';
  return canonical(mine.input) === canonical(theirs.input ?? undefined) ? undefined : 'input';
}

// Two inputs are the same when they hold the same values, in whatever order their keys were written.
function canonical(text: string | undefined): string {
  if (text === undefined) return 'undefined';
  return JSON.stringify(JSON.parse(text), (_key, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : value,
  );
}

const TYPES: readonly ArrayType[] = [
  ...(['text', 'smallint', 'text', 'text', 'text', 'smallint', 'text', 'integer'] as const),
  ...(['text', 'text', 'text', 'text', 'text'] as const),
];

function parameters(executions: readonly NewExecution[]): unknown[] {
  return [...executionColumns(executions).map((column, n) => arrayBytes(TYPES[n], column)), newFence()];
}

/** The columns of new executions, each a list in the order of the executions. */
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
    executions.map(({ options }) => (options && Object.keys(options).length > 0 ? JSON.stringify(options) : null)),
  ];
}
