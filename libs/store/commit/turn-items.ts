// Items of several turns in one array, each with its turn: the form in which a part of a commit takes its parameters.

import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';

/** An item with the turn that it belongs to, and the number of that turn in the group. */
export type Owned<T> = { turn: TurnCommit; n: number; item: T };

/** What `pick` returns for each turn, in one array. */
export function each<T>(turns: readonly TurnCommit[], pick: (turn: TurnCommit) => readonly T[]): Owned<T>[] {
  return turns.flatMap((turn, n) => pick(turn).map((item) => ({ turn, n, item })));
}

/** The first columns of every such part: the number of the turn, and the id and bucket of its run. */
export const owner = (commit: CommitBuilder, items: readonly { turn: TurnCommit; n: number }[]) =>
  [
    commit.numbers(items.map(({ n }) => n)),
    ['text', items.map(({ turn }) => turn.id)],
    ['smallint', items.map(({ turn }) => turn.bucket)],
  ] as const;
