// Who of a group lost its fence: the numbers of the losers, or the insistence that there are none.

import { isDatabaseError } from '../connections.js';
import type { CommitBuilder, Scalars } from './commit-builder.js';

const UNIQUE_VIOLATION = '23505';
// What PostgreSQL says when a commit that hoped that everybody wins is given up. People may meet it in the server's log.
const GIVEN_UP = 'rhythm: somebody else moved an execution of this group, the commit is written the careful way';

/**
 * Adds the numbers that are missing among the winners. Nearly always there are none, so the rest of the statement asks for the
 * losers: looking for a winner among n winners is quadratic (PostgreSQL walks the array), looking among no losers is free.
 */
export function addLost(commit: CommitBuilder, losers: 'lost_tasks' | 'lost_turns', winners: string, tried: number): void {
  if (commit.optimistic) return;
  commit.add(
    losers,
    [],
    (_unnest, count) => `${losers} AS MATERIALIZED (
      SELECT ARRAY(SELECT generate_series(0, ${count} - 1) EXCEPT SELECT n FROM ${winners}) AS n
    )`,
    [['integer', tried]],
  );
}

/** Something else that must be true. */
export interface Condition {
  name: string;
  scalars: Scalars;
  /** The condition, given its scalars. */
  text(...scalars: string[]): string;
}

/**
 * Fails the statement, and with it everything it wrote, unless each of these has as many rows as it should, and the conditions
 * hold. They are looked at first, before anything is written.
 */
export function addInsistence(
  commit: CommitBuilder,
  expected: readonly (readonly [rows: string, count: number])[],
  { name, scalars, text }: Condition = NO_CONDITION,
): void {
  const present = expected.filter(([, count]) => count > 0);
  // A text that is no number, put together at run time so that it is not looked at before.
  const fail = `('${GIVEN_UP} (' || clock_timestamp() || ')')::integer`;
  commit.add(
    `insist-${name}-${present.map(([rows]) => rows)}`,
    [],
    (_unnest, ...given) => {
      const counts = given.slice(scalars.length);
      const conditions = [text(...given), ...present.map(([rows], n) => `(SELECT count(*) FROM ${rows}) = ${counts[n]}`)];
      return `all_won AS (SELECT CASE WHEN ${conditions.join(' AND ')} THEN 0 ELSE ${fail} END AS n)`;
    },
    [...scalars, ...present.map(([, count]) => ['integer', count] as const)],
  );
}

const NO_CONDITION: Condition = { name: '', scalars: [], text: () => 'true' };

/** True when that is why a optimistic commit failed, or when it started a child that the winner of a race has started too. */
export function wasGivenUp(error: unknown): boolean {
  return isDatabaseError(error) && (error.message.includes(GIVEN_UP) || error.code === UNIQUE_VIOLATION);
}
