// Starts executions: one statement for any number of them, in the caller's transaction or the engine's.

import { CLOCK_NOW } from '../clock.js';
import { type ArrayType, arrayBytes } from '../connect/array-bytes.js';
import { type Runner, sql } from '../connect/statement.js';
import { newFence } from '../fence.js';
import { bucketOf } from '../ids.js';
import { canonicalInput, inputHash } from '../input-hash.js';
import { isReadable, jsonText } from '../json-columns.js';
import {
  DUE_AFTER_DELAY,
  EXECUTION_COLUMNS,
  EXECUTION_VALUES,
  executionColumns,
  hasNoOptions,
  NAMED_COLUMN,
  type NewExecution,
  schedule,
} from '../new-execution.js';
import { HAS_NO_TOMBSTONE } from '../tombstones.js';
import { enqueue } from '../work-queue.js';
import { readTombstones } from './tombstones.js';

/**
 * What became of one start. `existing`: the same run was there already; `conflict`: the id belongs to a different one;
 * `contended`: nothing was started, because runs of that id came and went so fast that none of them could be read.
 */
export interface StartOutcome {
  id: string;
  outcome: 'created' | 'existing' | 'conflict' | 'contended';
  /** What differs, in a conflict. */
  differs?: 'type' | 'name' | 'input';
}

// Only inserts, on keys that no other transaction can share (a caller's own id may wait for another start with that id): an open
// transaction of a user blocks no other. The due times are read from the inserted options, so that no CTE joins another.
// Each row has a time of its own: lists are read by the index on time, and rows of the same time would have to be sorted (a
// million rows of one instant: 0.7 s per page).
// With ON CONFLICT every insert is tentative and confirmed by a second record, 48 bytes of WAL per row; ids that no other row can
// have are inserted without it. A chosen id is inserted only if it has no tombstone; `refuse_removed` finds one that was committed
// after this statement began.
const insert = (name: string, isNamed: boolean, patience = '') =>
  sql(
    name,
    `WITH new AS (
    INSERT INTO rhythm.executions (fence, created_at, ${EXECUTION_COLUMNS}${isNamed ? `, ${NAMED_COLUMN}` : ''})
    SELECT $14::bigint, ${CLOCK_NOW}, ${EXECUTION_VALUES}${isNamed ? `, d.${NAMED_COLUMN}` : ''}
    FROM unnest($1::text[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::integer[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[]${isNamed ? ', $15::text[]' : ''})
      AS d(${EXECUTION_COLUMNS}${isNamed ? `, ${NAMED_COLUMN}` : ''})
    ${isNamed ? `WHERE ${HAS_NO_TOMBSTONE} ${patience} ON CONFLICT (id, bucket) DO NOTHING` : ''}
    RETURNING id, bucket, type, queue, priority, options,
      CASE WHEN options ? 'runAt' THEN (options->>'runAt')::timestamptz ${DUE_AFTER_DELAY} END AS due_at
  ), queued AS (
    ${enqueue('new WHERE due_at IS NULL', '$14::bigint')}
  ), scheduled AS (
    ${schedule('new', '$14::bigint')}
  )
  SELECT ${isNamed ? `array_agg(id) AS ids FROM new HAVING count(*) > 0 AND rhythm.refuse_removed(array_agg(id), array_agg(bucket))` : '1 WHERE false'}`,
  );
const INSERT_FRESH = insert('insert_fresh', false);

// Starts that differ only in their id and their input, which is what bulk starts and most single ones are: three arrays, and the rest
// once. The queue rows are made from the same arrays, so that nothing is returned by one insert and read by the other.
// Per task in batches of 1,000 through startMany, with cheaper ids and payloads: server 8.4 → 7.3 µs, Node 9.0 → 3.5 µs.
const INSERT_UNIFORM = sql(
  'insert_uniform',
  `WITH new AS (
    INSERT INTO rhythm.executions (fence, created_at, id, bucket, type, target_name, queue, priority, version, inputs)
    SELECT $4::bigint, ${CLOCK_NOW}, d.id, d.bucket, $5::text, $6::text, $7::text, $8::smallint, $9::text, d.inputs::json
    FROM unnest($1::text[], $2::smallint[], $3::text[]) AS d(id, bucket, inputs)
  )
  INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
  SELECT $7::text, -$8::smallint, nextval('rhythm.queue_seq'), d.bucket, d.id, CASE WHEN $5::text = 'task' THEN $4::bigint END
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)`,
);
const INSERT = insert('insert_executions', true);
// The setting ends with the statement, so it needs no transaction and no session of its own, and works behind a pooler. It is a
// subquery without a row of `d`, so it is read once, before the first row is inserted.
const INSERT_PATIENT = insert(
  'insert_executions_patient',
  true,
  `AND (SELECT set_config('lock_timeout', $16::integer || 'ms', true)) IS NOT NULL`,
);

// A start in a caller's transaction that finds an existing run keeps that run from being removed until the transaction ends, so
// that the result of the start is still true when it commits. The lock is the weakest there is; only a removal waits for it.
// Outside of a transaction the result is true when it is read, and the read writes nothing.
const readExisting = (name: string, lock: string) =>
  sql(
    name,
    `SELECT e.id, e.type, e.target_name, ${jsonText('inputs')} AS input
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket ${lock}`,
  );
const EXISTING = readExisting('read_existing', '');
const LOCKED_EXISTING = readExisting('lock_existing', 'FOR KEY SHARE OF e');

// A run that kept the insert from succeeding may be removed before it is read; then the insert is tried again. Each further try
// is needed only if another run of the same id comes and goes between two statements.
const TRIES = 10;

/** How a start is run. */
export interface InsertOptions {
  /** The runner is an open transaction of the caller's. */
  inTransaction?: boolean;
  /** How long to wait for a start of the same id in another open transaction before failing with a lock timeout. Default: it waits. */
  patienceMs?: number;
}

/** Inserts executions with their queue rows or due times. The same id and input again is the same run. */
export async function insertExecutions(
  db: Runner,
  executions: readonly NewExecution[],
  { inTransaction = false, patienceMs }: InsertOptions = {},
): Promise<StartOutcome[]> {
  if (executions.length === 0) return [];
  if (executions.every(({ fresh }) => fresh)) {
    await (areUniform(executions) ? db.rows(INSERT_UNIFORM, uniformParameters(executions)) : db.rows(INSERT_FRESH, parameters(executions)));
    return executions.map(({ id }) => ({ id, outcome: 'created' }));
  }
  const inserted = new Set<string>();
  const existing = new Map<string, ExistingRun>();
  const isKnown = ({ id }: NewExecution) => inserted.has(id) || existing.has(id);
  let open = executions;
  for (let tries = 0; open.length > 0 && tries < TRIES; tries++) {
    const rows =
      patienceMs === undefined
        ? await db.rows<{ ids: string[] }>(INSERT, namedParameters(open))
        : await db.rows<{ ids: string[] }>(INSERT_PATIENT, [...namedParameters(open), patienceMs]);
    for (const { ids } of rows) for (const id of ids) inserted.add(id);
    if (inserted.size === executions.length) break;
    const ids = existingAmong(open, inserted);
    const found = await db.rows<ExistingRun>(inTransaction ? LOCKED_EXISTING : EXISTING, [ids, ids.map(bucketOf)]);
    for (const run of found) existing.set(run.id, run);
    const removed = found.length < ids.length ? ids.filter((id) => !existing.has(id)) : [];
    for (const run of removed.length > 0 ? await readTombstones(db, removed, inTransaction) : []) existing.set(run.id, run);
    open = open.filter((execution) => !isKnown(execution));
  }
  const seen = new Set<string>();
  return executions.map((execution) => {
    const { id } = execution;
    // The second of two equal ids in one batch finds the first.
    if (inserted.has(id) && !seen.has(id)) {
      seen.add(id);
      return { id, outcome: 'created' };
    }
    const run = existing.get(id);
    if (!run) return { id, outcome: 'contended' };
    const differs = difference(execution, run);
    return differs ? { id, outcome: 'conflict', differs } : { id, outcome: 'existing' };
  });
}

function areUniform(executions: readonly NewExecution[]): boolean {
  const [{ type, targetName, queue, priority, version }] = executions;
  return executions.every(
    (one) =>
      one.targetName === targetName &&
      one.queue === queue &&
      one.type === type &&
      one.priority === priority &&
      one.version === version &&
      one.parentId === undefined &&
      !one.tags?.length &&
      hasNoOptions(one) &&
      isReadable(one.input),
  );
}

function uniformParameters(executions: readonly NewExecution[]): unknown[] {
  const [{ type, targetName, queue, priority = 0, version = null }] = executions;
  const ids = executions.map(({ id }) => id);
  const inputs = executions.map(({ input }) => input);
  const arrays = [arrayBytes('text', ids), arrayBytes('smallint', ids.map(bucketOf)), arrayBytes('text', inputs)];
  return [...arrays, newFence(), type, targetName, queue, priority, version];
}

/** The run that has the id of a start, or had it before it was removed. */
interface ExistingRun {
  id: string;
  type: string;
  target_name: string;
  input?: string | null;
  /** Of one that was removed. */
  input_hash?: string;
}

// The ids that were taken, and those that were given twice.
function existingAmong(executions: readonly NewExecution[], inserted: ReadonlySet<string>): string[] {
  const seen = new Set<string>();
  const ids = new Set<string>();
  for (const { id } of executions) {
    if (!inserted.has(id) || seen.has(id)) ids.add(id);
    seen.add(id);
  }
  return [...ids];
}

function difference(mine: NewExecution, theirs: ExistingRun): StartOutcome['differs'] {
  if (mine.type !== theirs.type) return 'type';
  if (mine.targetName !== theirs.target_name) return 'name';
  const isSame =
    theirs.input_hash === undefined
      ? canonicalInput(mine.input) === canonicalInput(theirs.input ?? undefined)
      : inputHash(mine.input) === theirs.input_hash;
  return isSame ? undefined : 'input';
}

const TYPES: readonly ArrayType[] = [
  ...(['text', 'smallint', 'text', 'text', 'text', 'smallint', 'text', 'integer'] as const),
  ...(['text', 'text', 'text', 'text', 'text'] as const),
];

function parameters(executions: readonly NewExecution[]): unknown[] {
  return [...executionColumns(executions).map((column, n) => arrayBytes(TYPES[n], column)), newFence()];
}

function namedParameters(executions: readonly NewExecution[]): unknown[] {
  const hashes = executions.map(({ fresh, input }) => (fresh ? null : inputHash(input)));
  return [...parameters(executions), arrayBytes('text', hashes)];
}
