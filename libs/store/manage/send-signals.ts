// Sends signals: they are stored in the order of one sequence, and their runs are woken.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ENDED_FOR_GOOD } from '../ended.js';
import { idColumns } from '../ids.js';
import { rowsOfIds } from '../read/execution-rows.js';
import { wake } from '../work-queue.js';

/** A signal to be sent. */
export interface NewSignal {
  executionId: string;
  name: string;
  /** JSON text; absent means `undefined`. */
  payload?: string;
  /** A second signal with the same key for the same run is dropped. */
  dedupeKey?: string;
}

/** What became of one signal. */
export interface SignalOutcome {
  executionId: string;
  /** False when a signal with the same key was there already. */
  accepted: boolean;
  /** False when no execution of this id was visible; the signal is kept for it anyway. */
  known: boolean;
  /** True when the run is completed or cancelled: no wait will take the signal, and it is dropped. */
  ended: boolean;
  /** The queue in which its run was woken, for a hint. */
  queue?: string;
  /** The execution is a task, which takes no signals: nothing was written. */
  refused?: { name: string; parentId: string | null };
  /** As many signals as are allowed wait for this run already, and no wait has taken them: nothing was written. */
  full?: boolean;
}

// A run whose start is not visible yet (its transaction is open, or it comes later) cannot be queued from here: its first
// turn may read the signals just before this commits. So the wake is written as due at once, and the timer loop finds it after
// the commit: either the run is there by then and is queued, or its first turn is yet to come and sees the signal.
// If the id is that of a task by then, the wake leads to the signal's removal.
// Every turn of a run reads all of its signals that no wait has taken, so their number is limited. They are counted by the index, as
// far as the limit, which is nothing to count for a run that takes its signals. A second signal with a key is a duplicate before it is
// one too many.
const LIMIT = '$6::integer';
const send = (name: string, tasks: string) =>
  sql(
    name,
    `WITH tasks AS MATERIALIZED (${tasks}), full_runs AS MATERIALIZED (
    SELECT f.id, f.bucket FROM (SELECT DISTINCT id, bucket FROM unnest($1::text[], $2::smallint[]) AS u(id, bucket)) f
    WHERE (SELECT 1 FROM rhythm.signals s WHERE s.execution_id = f.id AND s.bucket = f.bucket AND s.consumed_at IS NULL
      ORDER BY s.execution_id, s.bucket, s.seq OFFSET ${LIMIT} - 1 LIMIT 1) IS NOT NULL
  ), sent AS (
    INSERT INTO rhythm.signals (execution_id, bucket, seq, name, payload, dedupe_key)
    SELECT d.execution_id, d.bucket, nextval('rhythm.event_seq'), d.name, d.payload::json, d.dedupe_key
    FROM (
      SELECT * FROM unnest($1::text[], $2::smallint[], $3::text[], $4::text[], $5::text[])
        WITH ORDINALITY AS u(execution_id, bucket, name, payload, dedupe_key, n) ORDER BY n
    ) d
    WHERE d.execution_id <> ALL(ARRAY(SELECT id FROM tasks)) AND d.execution_id <> ALL(ARRAY(SELECT id FROM full_runs))
    ON CONFLICT (execution_id, bucket, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
    RETURNING execution_id, bucket, seq, dedupe_key
  ), woken AS (
    ${wake('(SELECT DISTINCT execution_id, bucket FROM sent) s JOIN rhythm.executions e ON e.id = s.execution_id AND e.bucket = s.bucket')}
    RETURNING execution_id, queue
  ), later AS (
    INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
    SELECT s.execution_id, s.bucket, 'wake', s.seq, ${CLOCK} FROM sent s
    WHERE NOT EXISTS (SELECT 1 FROM rhythm.executions e WHERE e.id = s.execution_id AND e.bucket = s.bucket)
    RETURNING execution_id
  )
  SELECT s.execution_id, NULL AS task, NULL AS "parentId", false AS "isFull", s.dedupe_key, (SELECT w.queue FROM woken w WHERE w.execution_id = s.execution_id) AS queue,
    EXISTS (SELECT 1 FROM rhythm.executions e WHERE e.id = s.execution_id AND e.bucket = s.bucket AND e.status IN ${ENDED_FOR_GOOD}) AS ended
  FROM sent s
  UNION ALL
  SELECT t.id, t.target_name, t.parent_id, false, NULL, NULL, false FROM tasks t
  UNION ALL
  SELECT d.id, NULL, NULL, true, d.key, NULL, false FROM unnest($1::text[], $2::smallint[], $5::text[]) AS d(id, bucket, key)
  WHERE d.id = ANY(ARRAY(SELECT id FROM full_runs)) AND d.id <> ALL(ARRAY(SELECT id FROM tasks)) AND NOT EXISTS (
    SELECT FROM rhythm.signals s WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.dedupe_key IS NOT NULL AND s.dedupe_key = d.key)`,
  );
const SEND = send(
  'send_signals',
  `SELECT t.id, t.target_name, t.parent_id FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    JOIN rhythm.executions t ON t.id = d.id AND t.bucket = d.bucket AND t.type = 'task'`,
);
// Where an id may be that of a step without a row.
const SEND_TO_STEPS = send(
  'send_signals_to_steps',
  `SELECT e.id, e.target_name, e.parent_id FROM ${rowsOfIds('$7', '$8')} WHERE e.type = 'task'`,
);

interface SentRow {
  execution_id: string;
  /** The name of the task, if the id is that of a task. */
  task: string | null;
  parentId: string | null;
  isFull: boolean;
  dedupe_key: string | null;
  queue: string | null;
  ended: boolean;
}

const MOST_PER_RUN = 10_000;

/** Stores signals and wakes their runs. May join the caller's transaction: it only inserts. */
export async function sendSignals(db: Runner, signals: readonly NewSignal[], mostPerRun = MOST_PER_RUN): Promise<SignalOutcome[]> {
  const [ids, buckets, runs, calls] = idColumns(signals.map((signal) => signal.executionId));
  const toSteps = runs.some((run) => run !== null);
  const found = await db.rows<SentRow>(toSteps ? SEND_TO_STEPS : SEND, [
    ids,
    buckets,
    signals.map((signal) => signal.name),
    signals.map((signal) => signal.payload ?? null),
    signals.map((signal) => signal.dedupeKey ?? null),
    mostPerRun,
    ...(toSteps ? [runs, calls] : []),
  ]);
  const tasks = new Map(
    found.flatMap(({ execution_id, task, parentId }) => (task === null ? [] : [[execution_id, { name: task, parentId }]])),
  );
  const rows = found.filter((row) => row.task === null && !row.isFull);
  const full = new Set(found.filter((row) => row.isFull).map((row) => JSON.stringify([row.execution_id, row.dedupe_key])));
  const isFull = ({ executionId, dedupeKey }: NewSignal) => full.has(JSON.stringify([executionId, dedupeKey ?? null]));
  const stored = new Set(rows.map((row) => JSON.stringify([row.execution_id, row.dedupe_key])));
  const ended = new Set(rows.filter((row) => row.ended).map((row) => row.execution_id));
  const queues = new Map(rows.map((row) => [row.execution_id, row.queue ?? undefined]));
  return signals.map((signal) => {
    const { executionId, dedupeKey } = signal;
    return {
      executionId,
      accepted:
        !tasks.has(executionId) && !isFull(signal) && (dedupeKey === undefined || stored.delete(JSON.stringify([executionId, dedupeKey]))),
      known: tasks.has(executionId) || queues.get(executionId) !== undefined,
      ended: ended.has(executionId),
      queue: queues.get(executionId),
      refused: tasks.get(executionId),
      ...(isFull(signal) ? { full: true } : {}),
    };
  });
}
