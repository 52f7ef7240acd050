// The items of a group that lost their fence: their numbers, or the condition that there are none.

import { isDatabaseError } from '../connect/database-errors.js';
import type { CommitBuilder, Scalars } from './commit-builder.js';

const UNIQUE_VIOLATION = '23505';
// The error of an optimistic commit in which an item lost its fence; it appears in the server's log.
const GIVEN_UP = 'rhythm: another worker moved an execution of this group, so the commit is repeated with checks';

/**
 * Adds the numbers that are missing among the winners. Nearly always there are none, so the rest of the statement compares with
 * the losers: looking for each item among n winners is quadratic (PostgreSQL walks the array), looking among no losers is free.
 */
export function addLosers(commit: CommitBuilder, losers: 'lost_tasks' | 'lost_turns', winners: string, tried: number): void {
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

/** A further condition of an optimistic commit. */
export interface Condition {
  name: string;
  scalars: Scalars;
  /** The condition, given its scalars. */
  text(...scalars: string[]): string;
}

/**
 * Fails the statement, and with it everything it wrote, unless each of these CTEs has as many rows as expected and the condition
 * holds.
 */
export function addExpectations(
  commit: CommitBuilder,
  expected: readonly (readonly [rows: string, count: number])[],
  { name, scalars, text }: Condition = NO_CONDITION,
): void {
  const present = expected.filter(([, count]) => count > 0);
  // A cast that fails. clock_timestamp() keeps PostgreSQL from evaluating it before the statement runs; the time does not matter.
  const fail = `('${GIVEN_UP} (' || clock_timestamp() || ')')::integer`;
  commit.add(
    `expect-${name}-${present.map(([rows]) => rows)}`,
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

/** True when an optimistic commit failed because an item lost its fence, or because another worker has started the same child. */
export function hasLosers(error: unknown): boolean {
  return isDatabaseError(error) && (error.message.includes(GIVEN_UP) || error.code === UNIQUE_VIOLATION);
}
