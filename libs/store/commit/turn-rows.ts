// The rows of runs whose turns are committed, as a part of a commit: status, outcome, state, and a wake for those that lost their fence.

import { CLOCK } from '../clock.js';
import { ENDED, isEnded } from '../ended.js';
import { jsonColumns } from '../json-columns.js';
import { deleteOwned, STATE_TABLES } from '../owned-rows.js';
import { wake } from '../work-queue.js';
import { areUsual, type Columns, type CommitBuilder } from './commit-builder.js';
import { addConsumed } from './consumed-events.js';
import { addLosers } from './fence-losers.js';
import type { TurnCommit } from './turn-commit.js';
import { owner } from './turn-items.js';
import { NOTHING_UNREAD } from './unread-turns.js';

/**
 * Adds the update of the runs' rows. `turned` has those that won their fence. Returns the CTEs with the ids of all that won, and how many
 * they are if all win.
 */
// Among the turns of a busy worker there is nearly always one that ends its run. Nothing in the rest of an optimistic commit refers to
// those that only go on, so they are updated apart: they need half of the columns.
export function addTurns(
  commit: CommitBuilder,
  workerId: string,
  fence: number,
  turns: readonly TurnCommit[],
): (readonly [rows: string, count: number])[] {
  const usual = commit.optimistic ? turns.filter(isUsual) : [];
  const isMixed = usual.length > 0 && usual.length < turns.length;
  const others = isMixed ? turns.filter((turn) => !isUsual(turn)) : turns;
  addRows(commit, workerId, fence, others, 'turned');
  if (isMixed) addRows(commit, workerId, fence, usual, 'moved');
  addLosers(commit, 'lost_turns', 'turned', turns.length);
  addDropped(commit, turns);
  addConsumed(commit, turns);
  if (!commit.optimistic || turns.some((turn) => turn.again)) addWakes(commit, turns);
  if (!isMixed) return [['turned', turns.length]];
  return [
    ['turned', others.length],
    ['moved', usual.length],
  ];
}

function isUsual({ status, error, note, cancelled, state }: TurnCommit): boolean {
  return (
    status === 'suspended' &&
    !cancelled &&
    error === undefined &&
    note === undefined &&
    state.action === 'store' &&
    state.snapshotRef === undefined
  );
}

// A run that was cancelled keeps the reason as its error through the turns of its clean-up.
function addRows(commit: CommitBuilder, workerId: string, fence: number, turns: readonly TurnCommit[], cte: 'turned' | 'moved'): void {
  const outputs = turns.map((turn) => jsonColumns(turn.output));
  const errors = turns.map((turn) => jsonColumns(turn.error));
  const parents = turns.map(({ status, parent }) => (isEnded(status) ? parent : undefined));
  const fused = !commit.optimistic && turns.some((turn) => turn.needs !== undefined);
  const unread = !commit.optimistic && turns.some((turn) => turn.unread !== undefined);
  const columns: Columns = [
    commit.numbers(turns.map((_, n) => n)),
    ['text', turns.map((turn) => turn.id)],
    ['smallint', turns.map((turn) => turn.bucket)],
    ['bigint', turns.map((turn) => turn.fence)],
    ['text', turns.map((turn) => turn.status), 'suspended'],
    ['text', outputs.map((output) => output.readable), null],
    ['text', errors.map((error) => error.readable), null],
    ['text', turns.map((_, n) => outputs[n].verbatim ?? errors[n].verbatim), null],
    ['text', turns.map((turn) => turn.note ?? null), null],
    ['float8', turns.map((turn) => turn.startedAt)],
    ['boolean', turns.map((turn) => turn.cancelled ?? false), false],
    ['text', turns.map(({ state }) => state.action), 'store'],
    ['text', turns.map(({ state }) => (state.action === 'store' ? state.snapshot : null))],
    ['text', turns.map(({ state }) => (state.action === 'store' ? (state.snapshotRef ?? null) : null)), null],
    ['integer', turns.map(({ state }) => (state.action === 'store' || state.action === 'keep' ? state.calls : 0))],
    ['integer', turns.map(({ turn }) => turn ?? null)],
    // An empty text: they stay as they are.
    ['text', turns.map(({ pending }) => (pending === undefined ? '' : pending))],
    ['text', parents.map((parent) => parent?.id ?? null), null],
    ['smallint', parents.map((parent) => parent?.bucket ?? null), null],
    ['integer', commit.optimistic ? [] : turns.map((turn) => turn.needs ?? null), null],
    ...(unread ? [['text', turns.map((turn) => (turn.unread ? `{${turn.unread.signals}}` : null))] as const] : []),
  ];
  const forParent =
    commit.optimistic && areUsual(columns)
      ? ''
      : `, d.parent_id, d.parent_bucket, e.parent_call,
        CASE WHEN d.status = 'completed' THEN coalesce(d.verbatim, d.output) ELSE coalesce(d.verbatim, d.error, e.error::text) END AS payload`;
  commit.add(
    `${unread ? 'unread-' : ''}${fused ? 'fused-' : ''}${cte}`,
    columns,
    (unnest, worker, next) => `${cte} AS (
      UPDATE rhythm.executions e SET status = d.status, fence = ${next}, crashes = 0, note = d.note,
        output = d.output::json, output_verbatim = CASE WHEN d.status = 'completed' THEN d.verbatim::json END,
        error = CASE WHEN e.cancelled_at IS NULL THEN d.error::jsonb ELSE coalesce(d.error::jsonb, e.error) END,
        worker_id = ${worker}, started_at = coalesce(e.started_at, to_timestamp(d.started_at / 1000)),
        snapshot = CASE d.state WHEN 'store' THEN d.snapshot WHEN 'drop' THEN NULL ELSE e.snapshot END,
        snapshot_ref = CASE d.state WHEN 'store' THEN d.snapshot_ref WHEN 'drop' THEN NULL ELSE e.snapshot_ref END,
        calls = CASE WHEN d.state IN ('store', 'keep') THEN d.calls ELSE e.calls END, turns = coalesce(d.turn, e.turns),
        pending = CASE d.pending WHEN '' THEN e.pending ELSE d.pending END,
        finished_at = CASE WHEN d.status IN ${ENDED} THEN ${CLOCK} END,
        cancelled_at = CASE WHEN d.cancelled THEN coalesce(e.cancelled_at, ${CLOCK}) ELSE e.cancelled_at END
      FROM ${unnest} AS d(n, id, bucket, fence, status, output, error, verbatim, note, started_at, cancelled, state, snapshot, snapshot_ref, calls, turn, pending, parent_id, parent_bucket, needs${unread ? ', known' : ''})
      WHERE e.id = d.id AND e.bucket = d.bucket AND e.fence = d.fence
        ${fused ? `AND (d.needs IS NULL OR ${commit.won('lost_tasks', 'd.needs')})` : ''}
        ${unread ? `AND (d.known IS NULL OR (${NOTHING_UNREAD}))` : ''}
      RETURNING d.n, e.id, e.bucket, e.status${forParent}
    )`,
    [
      ['text', workerId],
      ['bigint', fence],
    ],
  );
}

// Of a run that has ended, only its row, its history and its steps are kept.
function addDropped(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const dropped = turns.flatMap((turn, n) => (turn.state.action === 'drop' ? [{ turn, n }] : []));
  if (dropped.length === 0) return;
  commit.add(
    'dropped',
    owner(commit, dropped),
    (unnest) => `dropped AS MATERIALIZED (
      SELECT d.id, d.bucket FROM ${unnest} AS d(n, id, bucket) WHERE ${commit.ofWinner}
    ), ${deleteOwned('dropped', STATE_TABLES)}`,
  );
  addDiscarded(commit, turns);
}

// Where its last state is, the row of the run says until this statement; a state that is kept for people stays with the run.
function addDiscarded(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const discarding = turns.flatMap((turn, n) => (turn.discards ? [{ turn, n }] : []));
  if (discarding.length === 0) return;
  commit.add(
    'discarded',
    owner(commit, discarding),
    (unnest) => `discarded AS (
      INSERT INTO rhythm.discarded_snapshots (execution_id, bucket, ref)
      SELECT e.id, e.bucket, e.snapshot_ref FROM ${unnest} AS d(n, id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
      WHERE ${commit.ofWinner} AND e.snapshot_ref IS NOT NULL AND NOT EXISTS (
        SELECT FROM rhythm.snapshots s WHERE s.execution_id = e.id AND s.bucket = e.bucket AND s.state_ref = e.snapshot_ref)
      ON CONFLICT DO NOTHING
    )`,
  );
}

// The claim of a turn that lost its fence deleted a queue row, and the event that came with that wake must be read again. This is
// so even if the winner has ended the run: its end deleted the events that it saw, and this one may have come later. The claim
// of the new row finds the run ended, and deletes what is left.
function addWakes(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  commit.add(
    'wakes',
    [
      commit.numbers(turns.map((_, n) => n)),
      ['text', turns.map((turn) => turn.id)],
      ['smallint', turns.map((turn) => turn.bucket)],
      ['boolean', turns.map((turn) => turn.again ?? false)],
    ],
    (unnest) => `again AS (
      ${wake(`${unnest} AS d(n, id, bucket, again) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
      WHERE d.again OR NOT (${commit.ofWinner})`)}
    )`,
  );
}
