// Items of several turns in one array, each with its turn: the form in which a part of a commit takes its parameters.

import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';

/** An item with the turn that it belongs to, and the number of that turn in the group. */
export type Owned<T> = { turn: TurnCommit; n: number; item: T };

/** What `pick` returns for each turn, in one array. */
// A loop: most parts have nothing of most turns, and an array for each of them was 4 % of what a step allocates.
export function each<T>(turns: readonly TurnCommit[], pick: (turn: TurnCommit) => readonly T[]): Owned<T>[] {
  const items: Owned<T>[] = [];
  for (let n = 0; n < turns.length; n++) {
    const turn = turns[n];
    const picked = pick(turn);
    for (let i = 0; i < picked.length; i++) items.push({ turn, n, item: picked[i] });
  }
  return items;
}

/** The first columns of every such part: the number of the turn, and the id and bucket of its run. */
export const owner = (commit: CommitBuilder, items: readonly { turn: TurnCommit; n: number }[]) =>
  [
    commit.numbers(items.map(({ n }) => n)),
    ['text', items.map(({ turn }) => turn.id)],
    ['smallint', items.map(({ turn }) => turn.bucket)],
  ] as const;
