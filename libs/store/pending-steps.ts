// Steps that have no row: the worker that holds their run runs them at once, and until they end they stand in the row of the run.

import { CLOCK, inMs } from './clock.js';
import { childId } from './ids.js';
import type { ExecutionOptions, NewExecution } from './new-execution.js';
import { insertWaiting, LONGEST_ID, waitNameOf } from './waiting-rows.js';

/** A step in `executions.pending` of its run. */
export interface PendingStep {
  call: number;
  /** Random, of 30 bits. Whoever takes the step out of the row names it, so that only one of them can. */
  token: number;
  /** The turn that started it. */
  turn: number;
  /** The worker that runs it. */
  worker: string;
  name: string;
  queue: string;
  priority?: number;
  /** JSON text; absent means `undefined`. As text, because PostgreSQL reads no field of an object that has a NUL anywhere. */
  input?: string;
  options?: ExecutionOptions;
  /** In milliseconds, by the database's clock. */
  startedAt: number;
}

// The places of a step's fields in the column: entries are arrays. What differs from step to step comes first: an update logs the bytes
// between the first and the last change, and often only these differ.
const FIELDS = ['call', 'token', 'startedAt', 'turn', 'worker', 'name', 'queue', 'input', 'priority', 'options'] as const;
type Field = (typeof FIELDS)[number];

/** The column's text for these steps. */
export function pendingText(steps: readonly PendingStep[]): string | null {
  return steps.length === 0 ? null : `[${steps.map(entryText).join(',')}]`;
}

function entryText({ call, token, startedAt, turn, worker, name, queue, input, priority, options }: PendingStep): string {
  // Put together by hand: JSON.stringify takes three times as long for the whole as for the only text that is not used again.
  const usual = `[${call},${token},${startedAt},${turn},${quoted(worker)},${quoted(name)},${quoted(queue)},${input === undefined ? 'null' : JSON.stringify(input)}`;
  if (priority === undefined && options === undefined) return `${usual}]`;
  return `${usual},${priority ?? 'null'},${options === undefined ? 'null' : JSON.stringify(options)}]`;
}

// There are few workers, tasks and queues.
const MOST_QUOTED = 1_000;
const quotedTexts = new Map<string, string>();

function quoted(text: string): string {
  let json = quotedTexts.get(text);
  if (json === undefined) {
    json = JSON.stringify(text);
    if (quotedTexts.size === MOST_QUOTED) quotedTexts.clear();
    quotedTexts.set(text, json);
  }
  return json;
}

/** The steps in a column's text. */
export function readPending(text: string | null): PendingStep[] {
  if (text === null) return [];
  return (JSON.parse(text) as unknown[][]).map((entry) => {
    const step: Partial<Record<Field, unknown>> = {};
    FIELDS.forEach((field, n) => {
      if (entry[n] !== undefined && entry[n] !== null) step[field] = entry[n];
    });
    return step as unknown as PendingStep;
  });
}

/** The step as an execution with a row of its own. */
export function executionOf(runId: string, { call, name, queue, priority, input, options }: PendingStep): NewExecution {
  return { id: childId(runId, call), type: 'task', targetName: name, queue, priority, input, parentId: runId, parentCall: call, options };
}

/** In SQL: one field of a step, given as `json`. */
export const stepField = (step: string, field: Field) => `${step}->>${FIELDS.indexOf(field)}`;

/** In SQL: the row of a run has steps of this worker. */
export const namesWorker = (pending: string, worker: string) =>
  `EXISTS (SELECT FROM json_array_elements(${pending}::json) AS w(step) WHERE ${stepField('w.step', 'worker')} = ${worker})`;

// Not at once: whoever claims the step may die of it, and must not hold its run then. Mostly the step has ended by then.
const LOOK_AGAIN_MS = 5_000;

const STEP_COLUMNS =
  'fence, created_at, id, bucket, type, target_name, queue, priority, parent_id, parent_call, inputs, options, crashes, status';

/**
 * CTEs that give steps rows of their own: `given` has what was inserted, at the new fence. `runs` selects the runs (`id`, `bucket`),
 * `isTaken` is a condition on a `step`. The fence of the run is replaced with its column, or a turn that was computed before
 * would write the old column back. A run without steps in place is let go. Unless it is given what it
 * waits for (`waiting`), it waits for the first of those steps, and is woken some time later: that turn writes the rest. It may have been
 * let go before, by a worker that had none of its steps. This statement's snapshot may be older than that commit, so not the rows that it
 * sees are compared but the key: the turn is that of the locked row. A run that another transaction has locked is waited for, or skipped. They are locked in the order in
 * which commits lock theirs, so that the two rarely deadlock.
 */
export function takeSteps(
  runs: string,
  isTaken: string,
  {
    fence,
    crashes = '0',
    status = 'pending',
    skipLocked = false,
    waiting,
  }: {
    fence: string;
    crashes?: string;
    status?: 'pending' | 'paused';
    skipLocked?: boolean;
    /** Writes what runs wait for and returns `execution_id`. */
    waiting?: string;
  },
): string {
  return `locked AS MATERIALIZED (
    SELECT e.id, e.bucket, e.fence, e.pending, e.status, coalesce(e.turns, 0) AS turns FROM (${runs}) r JOIN rhythm.executions e ON e.id = r.id AND e.bucket = r.bucket
    WHERE e.pending IS NOT NULL ORDER BY e.bucket, e.id FOR NO KEY UPDATE OF e${skipLocked ? ' SKIP LOCKED' : ''}
  ), listed AS MATERIALIZED (
    SELECT l.id, l.bucket, l.fence, l.status, l.turns, s.step, s.n, (${isTaken}) AS taken
    FROM locked l, json_array_elements(l.pending::json) WITH ORDINALITY AS s(step, n)
  ), emptied AS (
    UPDATE rhythm.executions e SET fence = ${fence}::bigint,
      pending = (SELECT json_agg(o.step ORDER BY o.n)::text FROM listed o WHERE o.id = e.id AND o.bucket = e.bucket AND NOT o.taken)
    FROM (SELECT DISTINCT id, bucket FROM listed WHERE taken) t WHERE e.id = t.id AND e.bucket = t.bucket
  ), given AS (
    INSERT INTO rhythm.executions (${STEP_COLUMNS})
    SELECT ${fence}::bigint, coalesce(to_timestamp((${stepField('step', 'startedAt')})::float8 / 1000), ${CLOCK}), id || ':' || (${stepField('step', 'call')}), bucket, 'task',
      ${stepField('step', 'name')}, ${stepField('step', 'queue')}, coalesce((${stepField('step', 'priority')})::smallint, 0), id, (${stepField('step', 'call')})::integer,
      (${stepField('step', 'input')})::json, (${stepField('step', 'options')})::jsonb, ${crashes}, '${status}'
    FROM listed WHERE taken
    RETURNING id, bucket, type, queue, priority, fence, target_name, crashes
  )${waiting ? `, now_waiting AS (${waiting})` : ''}, waiting_for_steps AS (
    ${insertWaiting(`(
        SELECT DISTINCT ON (l.id) l.id, l.bucket, l.turns AS turn, 0::smallint AS place, true AS first_of_kind, 'task' AS kind, ${waitNameOf(`(${stepField('l.step', 'name')})`)} AS name,
          NULL::integer AS line, NULL AS function, 1 AS calls
        FROM (SELECT o.*, bool_and(o.taken) OVER (PARTITION BY o.id) AS is_let_go FROM listed o WHERE o.status = 'suspended') l WHERE l.is_let_go ORDER BY l.id, l.n
      ) d JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
      WHERE octet_length(d.id) <= ${LONGEST_ID} ${waiting ? 'AND d.id NOT IN (SELECT execution_id FROM now_waiting)' : ''}`)}
    ON CONFLICT DO NOTHING RETURNING execution_id, bucket
  ), look_again AS (
    INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
    SELECT execution_id, bucket, 'wake', 0, ${inMs(String(LOOK_AGAIN_MS))} FROM waiting_for_steps
    ON CONFLICT (execution_id, bucket, kind, call) DO UPDATE SET due_at = least(rhythm.scheduled_queue.due_at, excluded.due_at)
  )`;
}
