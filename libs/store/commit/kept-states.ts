// The last states of runs, as a part of a commit: only of runs whose worker keeps some (history.snapshots).

import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { owner } from './turn-items.js';

/** What is kept of a turn besides its state. */
export interface KeptState {
  /** The number of the turn. */
  turn: number;
  /** Of the program that the state belongs to. */
  fingerprint: string | undefined;
  /** JSON text of the durable calls that the state waits for, with their inputs and options. */
  pendingCalls: string;
  /** So many states are kept, this one included. */
  most: number;
}

/** Stores the state of each turn that is to be kept beside the row of its run, and deletes those that are too old by then. */
export function addKeptStates(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const kept = turns.flatMap((turn, n) =>
    turn.kept && turn.state.action === 'store' ? [{ turn, n, item: turn.kept, state: turn.state }] : [],
  );
  if (kept.length === 0) return;
  commit.add(
    'kept-states',
    [
      ...owner(commit, kept),
      ['integer', kept.map(({ item }) => item.turn)],
      ['text', kept.map(({ item }) => item.fingerprint ?? null)],
      ['text', kept.map(({ state }) => state.snapshot)],
      ['text', kept.map(({ state }) => state.snapshotRef ?? null), null],
      ['text', kept.map(({ item }) => item.pendingCalls)],
      ['integer', kept.map(({ item }) => item.turn - item.most)],
    ],
    (unnest) => `kept_states AS MATERIALIZED (
      SELECT * FROM ${unnest} AS d(n, id, bucket, turn, fingerprint, state, state_ref, pending_calls, oldest) WHERE ${commit.ofWinner}
    ), stored_states AS (
      INSERT INTO rhythm.snapshots (execution_id, bucket, turn, fingerprint, state, state_ref, pending_calls)
      SELECT id, bucket, turn, fingerprint, state::json, state_ref, pending_calls::json FROM kept_states
    ), old_states AS (
      DELETE FROM rhythm.snapshots s USING kept_states d WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.turn <= d.oldest
    )`,
  );
}
