// What runs wait for, as parts of a commit: the rows of the turn before are deleted, those of a run that is let go are written.

import { deleteWaiting, insertWaiting, WAITING_COLUMNS, waitingColumns } from '../waiting-rows.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { owner } from './turn-items.js';

/**
 * Replaces what runs wait for. A run that goes on in memory has no rows before and after, and then nothing is added: a step in place pays
 * nothing. The rows are keyed by their turn, because a statement cannot insert a key that it deletes.
 */
export function addWaiting(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const moved: { turn: TurnCommit; n: number }[] = [];
  const letGo: { turn: TurnCommit; n: number }[] = [];
  for (let n = 0; n < turns.length; n++) {
    const turn = turns[n];
    if (turn.hadWaiting) moved.push({ turn, n });
    if (turn.waiting !== undefined) letGo.push({ turn, n });
  }
  if (moved.length > 0) {
    commit.add(
      'waited',
      owner(commit, moved),
      (unnest) => `waited AS (
      ${deleteWaiting(`${unnest} AS d(n, id, bucket)`)} AND ${commit.ofWinner}
    )`,
    );
  }
  if (letGo.length === 0) return;
  const { owners, columns } = waitingColumns(letGo.map(({ turn }) => ({ id: turn.id, turn: turn.turn ?? 0, rows: turn.waiting ?? [] })));
  if (owners.length === 0) return;
  commit.add(
    'waiting',
    [
      ...owner(
        commit,
        owners.map((at) => letGo[at]),
      ),
      ...columns,
    ],
    (unnest) => `now_waiting AS (
      ${insertWaiting(`${unnest} AS d(n, id, bucket, ${WAITING_COLUMNS}) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket`)}
      WHERE ${commit.ofWinner}
    )`,
  );
}
