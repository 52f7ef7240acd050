// The stored states of runs, as parts of a commit: written, kept by a failing turn, or deleted at the end.

import { deleteOwned, STATE_TABLES } from '../owned-rows.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { owner } from './turn-items.js';

type StoredState = Extract<TurnCommit['state'], { action: 'store' }>;

/** Stores the states of suspended runs, and deletes those of runs that have ended. */
export function addStates(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const stored = turns.flatMap((turn, n) => (turn.state.action === 'store' ? [{ turn, n, state: turn.state }] : []));
  const columnsOf = (states: readonly { turn: TurnCommit; n: number; state: StoredState }[]) =>
    [
      ...owner(commit, states),
      ['text', states.map(({ state }) => state.snapshot)],
      ['text', states.map(({ state }) => state.snapshotRef ?? null), null],
      ['integer', states.map(({ state }) => state.calls)],
    ] as const;
  const known = commit.optimistic ? stored.filter(({ state }) => state.known) : [];
  if (known.length > 0) {
    // ON CONFLICT would lock each row, with a WAL record of its own, before it writes it.
    commit.add(
      'known-states',
      columnsOf(known),
      (unnest) => `renewed AS (
        UPDATE rhythm.workflow_execution_context c SET snapshot = d.snapshot::json, snapshot_ref = d.ref, calls = d.calls
        FROM ${unnest} AS d(n, id, bucket, snapshot, ref, calls) WHERE c.execution_id = d.id AND c.bucket = d.bucket AND ${commit.ofWinner}
        RETURNING 1
      )`,
    );
  }
  const others = known.length > 0 ? stored.filter(({ state }) => !state.known) : stored;
  if (others.length > 0) {
    commit.add(
      'states',
      columnsOf(others),
      (unnest) => `stored AS (
        INSERT INTO rhythm.workflow_execution_context (execution_id, bucket, snapshot, snapshot_ref, calls)
        SELECT d.id, d.bucket, d.snapshot::json, d.ref, d.calls FROM ${unnest} AS d(n, id, bucket, snapshot, ref, calls) WHERE ${commit.ofWinner}
        ON CONFLICT (execution_id, bucket) DO UPDATE
          SET snapshot = excluded.snapshot, snapshot_ref = excluded.snapshot_ref, calls = excluded.calls
      )`,
    );
  }
  // A failing turn keeps the state before it; only the highest number of its calls is stored.
  const kept = turns.flatMap((turn, n) => (turn.state.action === 'keep' ? [{ turn, n, calls: turn.state.calls }] : []));
  if (kept.length > 0) {
    commit.add(
      'kept',
      [...owner(commit, kept), ['integer', kept.map(({ calls }) => calls)]],
      (unnest) => `kept AS (
        INSERT INTO rhythm.workflow_execution_context (execution_id, bucket, calls)
        SELECT d.id, d.bucket, d.calls FROM ${unnest} AS d(n, id, bucket, calls) WHERE ${commit.ofWinner}
        ON CONFLICT (execution_id, bucket) DO UPDATE SET calls = excluded.calls
      )`,
    );
  }
  const dropped = turns.flatMap((turn, n) => (turn.state.action === 'drop' ? [{ turn, n }] : []));
  if (dropped.length === 0) return;
  // Of a run that has ended, only its row, its history and its steps are kept.
  commit.add(
    'dropped',
    owner(commit, dropped),
    (unnest) => `dropped AS MATERIALIZED (
      SELECT d.id, d.bucket FROM ${unnest} AS d(n, id, bucket) WHERE ${commit.ofWinner}
    ), ${deleteOwned('dropped', STATE_TABLES)}`,
  );
}

/** How many states replace one that exists: an optimistic commit updates them without checking that they do. */
export function knownStates(turns: readonly TurnCommit[]): number {
  return turns.filter(({ state }) => state.action === 'store' && state.known).length;
}
