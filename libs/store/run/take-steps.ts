// Gives steps without rows rows of their own: claimed by the worker that runs them, or queued for any worker.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { NO_FENCE, newFence } from '../fence.js';
import { idColumns, mayBeStep } from '../ids.js';
import { namesWorker, stepField, takeSteps } from '../pending-steps.js';
import { insertWaiting, type RowsOfExecution, WAITING_COLUMNS, waitingColumns } from '../waiting-rows.js';
import { enqueue, wake } from '../work-queue.js';
import type { GivenBack } from './give-back.js';

/** A step without a row, and its run. */
export interface StepOfRun {
  runId: string;
  bucket: number;
  token: number;
}

/** A run that is let go with its last step, at the fence at which its worker has it in memory. */
export interface RunLetGo extends RowsOfExecution {
  bucket: number;
  fence: number;
}

/** A step that got a row. */
export interface PromotedStep {
  id: string;
  /** The fence that its run had before. */
  runFence: number;
}

const TOKEN = `(${stepField('s.step', 'token')})::bigint`;
const GIVEN_RUNS = 'SELECT DISTINCT u.id, u.bucket FROM unnest($1::text[], $2::smallint[]) AS u(id, bucket)';
// A token is random among the steps of one run only.
const GIVEN_TOKENS = `(l.id, ${TOKEN}) IN (SELECT u.id, u.token FROM unnest($1::text[], $3::bigint[]) AS u(id, token))`;

// At the fence at which its worker has it in memory, a run waits for what that worker says.
const RUNS_LET_GO = `unnest($7::text[], $8::smallint[], $9::bigint[], $10::integer[], $11::smallint[], $12::boolean[], $13::text[], $14::text[], $15::integer[], $16::text[], $17::integer[])
      AS d(id, bucket, fence, ${WAITING_COLUMNS})`;

const NOW_WAITING = `${insertWaiting(`${RUNS_LET_GO} JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket`)}
    WHERE (d.id, d.fence) IN (SELECT l.id, l.fence FROM listed l WHERE l.status = 'suspended' GROUP BY l.id, l.fence
        HAVING bool_or(l.taken) AND bool_and(l.taken OR ${stepField('l.step', 'worker')} <> $5))
    ON CONFLICT DO NOTHING RETURNING execution_id`;

// A run that somebody keeps locked must not hold up the steps of the others.
const PROMOTE = sql(
  'promote_steps',
  `WITH ${takeSteps(GIVEN_RUNS, GIVEN_TOKENS, { fence: '$4', skipLocked: true, waiting: NOW_WAITING })}, held AS (
    INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences)
    SELECT $5, $6, array_agg(id), array_agg(bucket), array_agg(fence) FROM given HAVING count(*) > 0
  )
  SELECT id || ':' || (${stepField('step', 'call')}) AS id, fence AS "runFence" FROM listed WHERE taken`,
);

// What a statement that skips locked runs did not take: it is there as long as nobody else has taken it.
const STILL_THERE = sql(
  'steps_still_there',
  `SELECT l.id AS "runId", l.bucket, ${TOKEN} AS token FROM (${GIVEN_RUNS}) r JOIN rhythm.executions l ON l.id = r.id AND l.bucket = r.bucket,
    json_array_elements(l.pending::json) AS s(step) WHERE ${GIVEN_TOKENS}`,
);

const REQUEUE = sql(
  'requeue_steps',
  `WITH ${takeSteps(GIVEN_RUNS, GIVEN_TOKENS, { fence: '$4' })}, queued AS (${enqueue('given')})
  SELECT id, queue, target_name AS name, crashes, false AS quarantined FROM given`,
);

const OF_WORKER = `${stepField('s.step', 'worker')} = $1`;
const CLAIMED = `SELECT DISTINCT i.id, i.bucket FROM rhythm.claims c, unnest(c.ids, c.buckets, c.fences) AS i(id, bucket, fence)
  WHERE c.worker_id = $1 AND i.fence = ${NO_FENCE}`;

const OF_IDS = `(l.id, (${stepField('s.step', 'call')})::integer) IN (SELECT u.run, u.call FROM unnest($3::text[], $4::integer[]) AS u(run, call))`;

// By their ids, whoever runs them: that worker finds the step gone, and drops its result. They are not queued before they are paused
// or cancelled, or an idle worker would run them again at once.
const RUNS_OF_IDS = 'SELECT DISTINCT u.run AS id, u.bucket FROM unnest($2::smallint[], $3::text[]) AS u(bucket, run)';
const PAUSE_STEPS = sql(
  'pause_steps',
  `WITH ${takeSteps(RUNS_OF_IDS, OF_IDS, { fence: '$5', status: 'paused' })}, marked AS (
    INSERT INTO rhythm.marked_executions (execution_id, bucket, status) SELECT id, bucket, 'paused' FROM given
    ON CONFLICT (execution_id, bucket) DO UPDATE SET status = 'paused', marked_at = ${CLOCK}
  ), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind) SELECT id, bucket, nextval('rhythm.event_seq'), 'paused' FROM given
  )
  SELECT id FROM given WHERE id = ANY($1::text[])`,
);
const CANCEL_STEPS = sql(
  'cancel_steps',
  `WITH ${takeSteps(RUNS_OF_IDS, OF_IDS, { fence: '$5' })}, requested AS (
    INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
    SELECT id, bucket, nextval('rhythm.event_seq'), 'cancel', 0, $6::json FROM given
  ), woken AS (${wake('given', '')})
  SELECT id, queue FROM given WHERE id = ANY($1::text[])`,
);

// Those of a live worker that it does not have: the reply to the commit that made them was lost. A locked run is left for the next
// time: the heartbeat that asks must not wait.
const UNKNOWN = sql(
  'unknown_steps',
  `SELECT e.id AS "runId", e.bucket, ${TOKEN} AS token FROM (${CLAIMED}) r
  JOIN rhythm.executions e ON e.id = r.id AND e.bucket = r.bucket AND ${namesWorker('e.pending', '$1')},
    json_array_elements(e.pending::json) AS s(step) WHERE ${OF_WORKER} AND ${TOKEN} <> ALL($2::bigint[]) LIMIT 500`,
);
const REQUEUE_UNKNOWN = sql(
  'requeue_unknown_steps',
  `WITH ${takeSteps(GIVEN_RUNS, GIVEN_TOKENS, { fence: '$4', skipLocked: true })}, queued AS (${enqueue('given')})
  SELECT id, queue, target_name AS name, crashes, false AS quarantined FROM given`,
);

// Of a worker that is dead: its heartbeat has not changed since the sweeper read it, or is gone. A limit per statement, so that ten
// thousand of them are not one transaction.
const RECOVER = sql(
  'recover_steps',
  `WITH ${takeSteps(
    `SELECT r.id, r.bucket FROM (${CLAIMED}
      AND NOT EXISTS (SELECT 1 FROM rhythm.worker_heartbeats w WHERE w.worker_id = $1 AND w.beats <> $2)) r
    JOIN rhythm.executions p ON p.id = r.id AND p.bucket = r.bucket AND ${namesWorker('p.pending', '$1')} LIMIT $4`,
    OF_WORKER,
    { fence: '$3', crashes: '1', skipLocked: true },
  )}, queued AS (${enqueue('given')}), noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind, worker_id, detail)
    SELECT id, bucket, nextval('rhythm.event_seq'), 'recovered', $1, jsonb_build_object('crashes', crashes) FROM given
  )
  SELECT id, queue, target_name AS name, crashes, false AS quarantined FROM given`,
);
const RECOVERED_AT_ONCE = 500;

/**
 * Gives steps rows that are claimed by their worker. Those that are not returned were taken before, and their results are to be
 * dropped, unless they are still there (`stepsStillThere`): somebody keeps the row of their run locked. `letGo` is
 * what runs wait for whose last steps these are.
 */
export async function promoteSteps(
  db: Runner,
  workerId: string,
  claimId: string,
  steps: readonly StepOfRun[],
  fence = newFence(),
  letGo: readonly RunLetGo[] = [],
): Promise<PromotedStep[]> {
  const waiting = waitingColumns(letGo);
  const runs = waiting.owners.map((n) => letGo[n]);
  return db.rows(PROMOTE, [
    ...columns(steps),
    fence,
    workerId,
    claimId,
    runs.map(({ id }) => id),
    runs.map(({ bucket }) => bucket),
    runs.map((run) => run.fence),
    ...waiting.columns.map(([, values]) => values),
  ]);
}

/** Those that nobody has taken. */
export async function stepsStillThere(db: Runner, steps: readonly StepOfRun[]): Promise<StepOfRun[]> {
  return db.rows(STILL_THERE, columns(steps));
}

/** Gives steps rows in the queue, for any worker. */
export async function requeueSteps(db: Runner, steps: readonly StepOfRun[], fence = newFence()): Promise<GivenBack[]> {
  return db.rows(REQUEUE, [...columns(steps), fence]);
}

/** Gives the steps among these ids that have no rows paused ones. Returns their ids. */
export async function pauseSteps(db: Runner, ids: readonly string[]): Promise<string[]> {
  const mayBe = ids.filter(mayBeStep);
  if (mayBe.length === 0) return [];
  return (await db.rows<{ id: string }>(PAUSE_STEPS, [...idColumns(mayBe), newFence()])).map(({ id }) => id);
}

/** Gives the steps among these ids that have no rows rows with a cancel request. `reason` is JSON text or null. Returns their ids and queues. */
export async function cancelSteps(db: Runner, ids: readonly string[], reason: string | null): Promise<{ id: string; queue: string }[]> {
  const mayBe = ids.filter(mayBeStep);
  return mayBe.length === 0 ? [] : db.rows(CANCEL_STEPS, [...idColumns(mayBe), newFence(), reason]);
}

/**
 * Queues the steps that the database has for this worker and that it does not know. `known` is read again with the reply: steps
 * may have begun since the question.
 */
export async function requeueUnknownSteps(
  db: Runner,
  workerId: string,
  known: () => readonly number[],
  fence = newFence(),
): Promise<GivenBack[]> {
  const found = await db.rows<StepOfRun>(UNKNOWN, [workerId, known()]);
  const knownNow = new Set(known());
  const unknown = found.filter(({ token }) => !knownNow.has(token));
  if (unknown.length === 0) return [];
  return db.rows(REQUEUE_UNKNOWN, [...columns(unknown), fence]);
}

/** Queues the steps of a dead worker. */
export async function recoverSteps(db: Runner, workerId: string, beats: number, newFences = newFence): Promise<GivenBack[]> {
  const given: GivenBack[] = [];
  for (;;) {
    const some = await db.rows<GivenBack>(RECOVER, [workerId, beats, newFences(), RECOVERED_AT_ONCE]);
    given.push(...some);
    if (some.length === 0) return given;
  }
}

function columns(steps: readonly StepOfRun[]): [ids: string[], buckets: number[], tokens: number[]] {
  return [steps.map(({ runId }) => runId), steps.map(({ bucket }) => bucket), steps.map(({ token }) => token)];
}
