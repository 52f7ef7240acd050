// Timers and timeouts of turns, as parts of a commit: set, and withdrawn.

import { inMs } from '../clock.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

/** Sets timers and timeouts. Relative ones are dated by the database. */
export function addTimers(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const timers = each(turns, (turn) => turn.timers);
  if (timers.length === 0) return;
  commit.add(
    'timers',
    [
      ...owner(commit, timers),
      ['text', timers.map(({ item }) => item.kind)],
      ['bigint', timers.map(({ item }) => item.call)],
      ['float8', timers.map(({ item }) => item.delayMs ?? null)],
      ['float8', timers.map(({ item }) => item.at ?? null)],
    ],
    (unnest) => `timed AS (
      INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
      SELECT d.id, d.bucket, d.kind, d.call, coalesce(to_timestamp(d.at / 1000), ${inMs('d.delay')})
      FROM ${unnest} AS d(n, id, bucket, kind, call, delay, at) WHERE ${commit.ofWinner}
      ON CONFLICT (execution_id, bucket, kind, call) DO NOTHING
    )`,
  );
}

/** Deletes timers whose outcome nothing can observe any more. */
export function addWithdrawals(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const withdrawn = each(turns, (turn) => turn.withdrawn);
  if (withdrawn.length === 0) return;
  commit.add(
    'withdrawals',
    [...owner(commit, withdrawn), ['bigint', withdrawn.map(({ item }) => item)]],
    (unnest) => `withdrawn AS (
      DELETE FROM rhythm.scheduled_queue s USING ${unnest} AS d(n, id, bucket, call)
      WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.kind = ANY('{timer,timeout}'::text[]) AND s.call = d.call AND ${commit.ofWinner}
    )`,
  );
}
