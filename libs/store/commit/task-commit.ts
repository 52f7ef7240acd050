// The end of an attempt of a task, as a part of a commit: its result, its retry, or its hand-over.

import { CLOCK, inMs } from '../clock.js';
import { ENDED, isEnded } from '../ended.js';
import { isReadable, jsonColumns, readable } from '../json-columns.js';
import { insertWaitingOne } from '../waiting-rows.js';
import { areUsual, type Columns, type CommitBuilder } from './commit-builder.js';
import { addLosers } from './fence-losers.js';

/** The call of a parent that waits for the end of an execution. */
export interface ParentCall {
  id: string;
  bucket: number;
  call: number;
}

/** The outcome of an attempt of a task. */
export interface TaskCommit {
  id: string;
  bucket: number;
  /** The fence that it must still have. */
  fence: number;
  /** `pending`: tried again after `retryAfterMs`. `suspended`: handed over, it will be completed from outside. */
  status: 'completed' | 'failed' | 'cancelled' | 'pending' | 'suspended';
  /** JSON text of the result. */
  output?: string;
  /** JSON text of the error's data. */
  error?: string;
  /** Failed attempts so far. */
  attempts: number;
  /** When it was claimed, by the database's clock. */
  startedAt: number;
  parent?: ParentCall;
  retryAfterMs?: number;
  /** The execution has rows in `scheduled_queue`, which its end deletes. */
  clearSchedule?: boolean;
  /** It ends because of an event (a cancel request); if the fence was lost, it is woken to read that event again. */
  control?: boolean;
}

/** Adds the update of the tasks' rows. `ended` has those that won their fence. */
export function addTasks(
  commit: CommitBuilder,
  workerId: string,
  fence: number,
  tasks: readonly TaskCommit[],
  fusedWith: readonly (number | null)[],
): void {
  const usual = tasks.every((task, n) => isUsual(task) && (commit.optimistic || fusedWith[n] === null));
  const columns = usual ? usualColumns(commit, tasks) : fullColumns(commit, tasks, fusedWith);
  // Ordinary ends whose parents move in the same commit need no event.
  const forParent =
    commit.optimistic && areUsual(columns)
      ? ''
      : `, d.parent_id, d.parent_bucket, d.parent_call, d.fused,
        CASE WHEN d.status = 'completed' THEN coalesce(d.verbatim, d.output) ELSE coalesce(d.verbatim, d.error) END AS payload`;
  commit.add(
    'tasks',
    columns,
    // `crashes` counts recoveries without progress, and this is progress.
    (unnest, worker, next) => `ended AS (
      UPDATE rhythm.executions e SET status = d.status, fence = ${next}, attempts = d.attempts, crashes = 0, note = NULL,
        output = d.output::json, output_verbatim = CASE WHEN d.status = 'completed' THEN d.verbatim::json END, error = d.error::jsonb,
        worker_id = ${worker}, started_at = coalesce(e.started_at, to_timestamp(d.started_at / 1000)),
        finished_at = CASE WHEN d.status IN ${ENDED} THEN ${CLOCK} END,
        cancelled_at = CASE WHEN d.status = 'cancelled' THEN ${CLOCK} END
      FROM ${unnest} AS d(n, id, bucket, fence, status, attempts, output, error, verbatim, started_at, parent_id, parent_bucket, parent_call, fused)
      WHERE e.id = d.id AND e.bucket = d.bucket AND e.fence = d.fence
      RETURNING d.n, e.id, e.bucket, e.status${forParent}
    )`,
    [
      ['text', workerId],
      ['bigint', fence],
    ],
  );
  addLosers(commit, 'lost_tasks', 'ended', tasks.length);
  addRetries(commit, fence, tasks);
  addHandOvers(commit, fence, tasks);
}

// Nearly always: tasks that have completed at their first attempt, for nobody who waits, with a result that people can query.
function isUsual({ status, attempts, error, parent, output }: TaskCommit): boolean {
  return status === 'completed' && attempts === 0 && error === undefined && parent === undefined && isReadable(output);
}

// Of the other columns nothing is sent, so that nothing needs to be collected either.
function usualColumns(commit: CommitBuilder, tasks: readonly TaskCommit[]): Columns {
  const [ids, buckets, fences, outputs, started]: [string[], number[], number[], (string | null)[], number[]] = [[], [], [], [], []];
  for (const { id, bucket, fence, output, startedAt } of tasks) {
    ids.push(id);
    buckets.push(bucket);
    fences.push(fence);
    outputs.push(output ?? null);
    started.push(startedAt);
  }
  return [
    commit.numbers(tasks.map((_, n) => n)),
    ['text', ids],
    ['smallint', buckets],
    ['bigint', fences],
    ['text', [], 'completed'],
    ['integer', [], 0],
    ['text', outputs],
    ['text', [], null],
    ['text', [], null],
    ['float8', started],
    ['text', [], null],
    ['smallint', [], null],
    ['integer', [], null],
    ['integer', [], null],
  ];
}

function fullColumns(commit: CommitBuilder, tasks: readonly TaskCommit[], fusedWith: readonly (number | null)[]): Columns {
  const outputs = tasks.map((task) => jsonColumns(task.output));
  const errors = tasks.map((task) => jsonColumns(task.error));
  // In an optimistic commit the parents of fused children move with them, or nothing is written.
  const parents = tasks.map(({ status, parent }, n) =>
    isEnded(status) && !(commit.optimistic && fusedWith[n] !== null) ? parent : undefined,
  );
  return [
    commit.numbers(tasks.map((_, n) => n)),
    ['text', tasks.map((task) => task.id)],
    ['smallint', tasks.map((task) => task.bucket)],
    ['bigint', tasks.map((task) => task.fence)],
    ['text', tasks.map((task) => task.status), 'completed'],
    ['integer', tasks.map((task) => task.attempts), 0],
    ['text', outputs.map((output) => output.readable)],
    ['text', errors.map((error) => error.readable), null],
    ['text', tasks.map((_, n) => outputs[n].verbatim ?? errors[n].verbatim), null],
    ['float8', tasks.map((task) => task.startedAt)],
    ['text', parents.map((parent) => parent?.id ?? null), null],
    ['smallint', parents.map((parent) => parent?.bucket ?? null), null],
    ['integer', parents.map((parent) => parent?.call ?? null), null],
    ['integer', commit.optimistic ? [] : fusedWith, null],
  ];
}

// Failed attempts of a task in its history: the newest.
const KEPT_ATTEMPTS = 100;

// The next attempt is scheduled with the fence that it will have, so that a row from before is never mistaken for it.
function addRetries(commit: CommitBuilder, fence: number, tasks: readonly TaskCommit[]): void {
  const retried = tasks.map((task, n) => ({ task, n })).filter(({ task }) => task.status === 'pending');
  if (retried.length === 0) return;
  commit.add(
    'retries',
    [
      commit.numbers(retried.map(({ n }) => n)),
      ['text', retried.map(({ task }) => task.id)],
      ['smallint', retried.map(({ task }) => task.bucket)],
      ['float8', retried.map(({ task }) => task.retryAfterMs ?? 0)],
      ['text', retried.map(({ task }) => (task.error === undefined ? null : readable(task.error)))],
    ],
    (unnest, next) => `retried AS (
      SELECT d.* FROM ${unnest} AS d(n, id, bucket, delay, error) WHERE ${commit.won('lost_tasks', 'd.n')}
    ), put_off AS (
      INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at, fence)
      SELECT id, bucket, 'run', 0, ${inMs('delay')}, ${next} FROM retried
      ON CONFLICT (execution_id, bucket, kind, call) DO UPDATE SET due_at = excluded.due_at, fence = excluded.fence
    ), noted_retries AS (
      INSERT INTO rhythm.history (execution_id, bucket, seq, kind, detail)
      SELECT id, bucket, nextval('rhythm.event_seq'), 'attempt-failed', error::jsonb FROM retried
    ), trimmed_retries AS (
      DELETE FROM rhythm.history h USING (
        SELECT r.id, r.bucket, (SELECT o.seq FROM rhythm.history o WHERE o.execution_id = r.id AND o.bucket = r.bucket AND o.kind = 'attempt-failed'
          ORDER BY o.seq DESC OFFSET ${KEPT_ATTEMPTS - 1} LIMIT 1) AS last FROM retried r
      ) t WHERE h.execution_id = t.id AND h.bucket = t.bucket AND h.kind = 'attempt-failed' AND h.seq <= t.last
    )`,
    [['bigint', fence]],
  );
}

// A token is tied to the fence, which a hand-over replaces: the token gets the new one.
function addHandOvers(commit: CommitBuilder, fence: number, tasks: readonly TaskCommit[]): void {
  const handed = tasks.map((task, n) => ({ task, n })).filter(({ task }) => task.status === 'suspended');
  if (handed.length === 0) return;
  commit.add(
    'hand-overs',
    [
      commit.numbers(handed.map(({ n }) => n)),
      ['text', handed.map(({ task }) => task.id)],
      ['smallint', handed.map(({ task }) => task.bucket)],
      ['bigint', handed.map(({ task }) => task.fence)],
    ],
    (unnest, next) => `handed AS (
      UPDATE rhythm.completion_tokens t SET fence = ${next} FROM ${unnest} AS d(n, id, bucket, fence)
      WHERE t.execution_id = d.id AND t.bucket = d.bucket AND t.fence = d.fence AND ${commit.won('lost_tasks', 'd.n')}
    ), handed_waiting AS (
      ${insertWaitingOne('completion', `${unnest} AS d(n, id, bucket, fence) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket WHERE ${commit.won('lost_tasks', 'd.n')}`)}
    )`,
    [['bigint', fence]],
  );
}
