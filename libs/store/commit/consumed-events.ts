// The events and signals that turns consumed, as parts of a commit.

import { CLOCK } from '../clock.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, type Owned, owner } from './turn-items.js';

const NONE: readonly number[] = [];

/** Deletes exactly the events that were consumed: another may have come meanwhile, and has a wake of its own. */
export function addConsumed(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const of = (pick: (turn: TurnCommit) => readonly number[]) => each(turns, (turn) => (turn.state.action === 'drop' ? NONE : pick(turn)));
  const columns = (items: readonly Owned<number>[]) => [...owner(commit, items), ['bigint', items.map(({ item }) => item)]] as const;
  const events = of((turn) => turn.events);
  if (events.length > 0) {
    commit.add(
      'events',
      columns(events),
      (unnest) => `consumed AS (
        DELETE FROM rhythm.inbox i USING ${unnest} AS d(n, id, bucket, seq)
        WHERE i.execution_id = d.id AND i.bucket = d.bucket AND i.seq = d.seq AND ${commit.ofWinner}
      )`,
    );
  }
  const signals = of((turn) => turn.signals);
  if (signals.length === 0) return;
  // A signal with a key is kept until the run ends, without its payload: a later one with the same key is a duplicate.
  commit.add(
    'signals',
    columns(signals),
    (unnest) => `taken AS MATERIALIZED (
      SELECT d.id, d.bucket, d.seq FROM ${unnest} AS d(n, id, bucket, seq) WHERE ${commit.ofWinner}
    ), deleted_signals AS (
      DELETE FROM rhythm.signals s USING taken d WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.seq = d.seq AND s.dedupe_key IS NULL
    ), consumed_signals AS (
      UPDATE rhythm.signals s SET consumed_at = ${CLOCK}, payload = NULL FROM taken d
      WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.seq = d.seq AND s.dedupe_key IS NOT NULL
    )`,
  );
}
