// Steps without rows, as parts of a commit: the results of those that ended with a turn, the claims of runs that have some, and
// rows for those that a turn cancels.

import { NO_FENCE } from '../fence.js';
import { EXECUTION_COLUMNS, EXECUTION_VALUES, executionColumns } from '../new-execution.js';
import { executionOf } from '../pending-steps.js';
import { wake } from '../work-queue.js';
import { cancelReasonOf } from './cancels.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

/** A claim of runs that have steps without rows: if their worker dies, those steps are found by it. */
export interface StandingClaim {
  claimId: string;
  /** The places of their turns in the group. */
  turns: readonly number[];
}

/** The rows of steps that ended in the turn that consumed their result: written once. */
export function addEndedSteps(commit: CommitBuilder, workerId: string, turns: readonly TurnCommit[]): void {
  const ended = each(turns, (turn) => turn.endedSteps);
  if (ended.length === 0) return;
  commit.add(
    'steps',
    [
      ...owner(commit, ended),
      ['integer', ended.map(({ item }) => item.call)],
      ['integer', ended.map(({ item }) => item.startedTurn)],
      ['integer', ended.map(({ item }) => item.consumedTurn)],
      ['text', ended.map(({ item }) => item.name)],
      ['text', ended.map(({ item }) => item.input ?? null)],
      ['text', ended.map(({ item }) => item.output ?? null)],
      ['float8', ended.map(({ item }) => item.startedAt)],
      ['float8', ended.map(({ item }) => item.finishedAt)],
      ['text', ended.map(({ item }) => item.unusual ?? null), null],
    ],
    // Not the time of this statement: the next step was given its start before, and did not start while this one ran.
    (unnest, worker) => `steps_ended AS (
      INSERT INTO rhythm.steps (started_at, finished_at, call, started_turn, consumed_turn, bucket, execution_id, name, worker_id, input, output, unusual)
      SELECT to_timestamp(d.started_at / 1000), to_timestamp(greatest(d.started_at, d.finished_at) / 1000), d.call, d.started_turn, d.consumed_turn, d.bucket, d.id, d.name, ${worker},
        d.input, d.output, d.unusual::jsonb
      FROM ${unnest} AS d(n, id, bucket, call, started_turn, consumed_turn, name, input, output, started_at, finished_at, unusual) WHERE ${commit.ofWinner}
    )`,
    [['text', workerId]],
  );
}

/** The claim of runs that now have steps without rows and had none before. It names no fence: the run itself is not held. */
export function addStandingClaim(
  commit: CommitBuilder,
  workerId: string,
  turns: readonly TurnCommit[],
  standing: StandingClaim | undefined,
): void {
  if (!standing || standing.turns.length === 0) return;
  commit.add(
    'standing',
    owner(
      commit,
      standing.turns.map((n) => ({ turn: turns[n], n })),
    ),
    (unnest, worker, claim) => `standing AS (
      INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences)
      SELECT ${worker}, ${claim}, array_agg(d.id), array_agg(d.bucket), array_agg(${NO_FENCE}::bigint) FROM ${unnest} AS d(n, id, bucket)
      WHERE ${commit.ofWinner} HAVING count(*) > 0
    )`,
    [
      ['text', workerId],
      ['text', standing.claimId],
    ],
  );
}

/** A step that is cancelled gets a row with a cancel request. Its worker, which may be another one, finds it gone and drops its result. */
export function addCancelledSteps(commit: CommitBuilder, fence: number, turns: readonly TurnCommit[]): void {
  const steps = each(turns, (turn) => turn.cancelledSteps);
  if (steps.length === 0) return;
  const [id, bucket, type, name, queue, priority, parent, call, version, inputs, verbatim, tags, options] = executionColumns(
    steps.map(({ turn, item }) => executionOf(turn.id, item)),
  );
  commit.add(
    'cancelled-steps',
    [
      commit.numbers(steps.map(({ n }) => n)),
      ['text', id],
      ['smallint', bucket],
      ['text', type],
      ['text', name],
      ['text', queue],
      ['smallint', priority],
      ['text', parent],
      ['integer', call],
      ['text', version],
      ['text', inputs],
      ['text', verbatim],
      ['text', tags],
      ['text', options],
      ['float8', steps.map(({ item }) => item.startedAt)],
      ['text', steps.map(({ turn, item }) => cancelReasonOf(turn, item.call))],
    ],
    // It keeps its time: lists and trees are in this order, and a page must not show it again.
    (unnest, next) => `cancelled_steps AS (
      INSERT INTO rhythm.executions (fence, created_at, ${EXECUTION_COLUMNS})
      SELECT ${next}, to_timestamp(d.began_at / 1000), ${EXECUTION_VALUES} FROM ${unnest} AS d(n, ${EXECUTION_COLUMNS}, began_at, reason) WHERE ${commit.ofWinner}
      RETURNING id, bucket, queue, priority
    ), cancelled_step_events AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT c.id, c.bucket, nextval('rhythm.event_seq'), 'cancel', 0, d.reason::json
      FROM cancelled_steps c JOIN ${unnest} AS d(n, ${EXECUTION_COLUMNS}, began_at, reason) ON d.id = c.id
    ), woken_cancelled_steps AS (
      ${wake('cancelled_steps', '')}
    )`,
    [['bigint', fence]],
  );
}
