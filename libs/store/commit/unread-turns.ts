// Turns that were run without reading the stored events: the condition that there is nothing they should have read.

// A fused turn was run with a result that is in memory only. Events that were committed before this statement come before that
// result, so the turn is valid only if there are none. Otherwise it loses like one whose fence is lost: the result is written as
// an event, and the next turn reads them all in their order.

import { arrayBytes } from '../connect/array-bytes.js';
import type { Condition } from './fence-losers.js';
import type { TurnCommit } from './turn-commit.js';

/** Of one turn `d`: nothing is stored for its run, apart from signals that it has already. */
// Scalar subqueries, because an EXISTS may be planned as a hash of the whole table.
export const NOTHING_UNREAD = `(SELECT 1 FROM rhythm.inbox i WHERE i.execution_id = d.id AND i.bucket = d.bucket LIMIT 1) IS NULL
          AND (SELECT 1 FROM rhythm.signals s WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.consumed_at IS NULL
            AND s.seq <> ALL(d.known::bigint[]) LIMIT 1) IS NULL`;

/** The same for the whole group of an optimistic commit. */
// One scan of each index for the whole group, not a subquery per row (5 µs of the server's 60 per step in groups of 200). So it
// costs the server 20 µs per statement and less than 1 µs per step in groups of 200: 1–2 % of the CPU of a step, server and Node
// together. Looking for signals costs as much again, so only runs whose program can wait for one pay for it. Nothing is written,
// so the WAL is the same. (The fence does not show new events, because their senders only insert and never update the run's row.)
export function nothingUnread(turns: readonly TurnCommit[]): Condition | undefined {
  const unread = turns.filter((turn) => turn.unread);
  if (unread.length === 0) return undefined;
  const texts = (of: readonly TurnCommit[]) =>
    arrayBytes(
      'text',
      of.map(({ id }) => id),
    );
  const noEvents = (ids: string) => `NOT EXISTS (SELECT 1 FROM rhythm.inbox i WHERE i.execution_id = ANY(${ids}))`;
  const takers = unread.filter((turn) => turn.unread?.takesSignals);
  if (takers.length === 0) return { name: 'no-events', scalars: [['text[]', texts(unread)]], text: noEvents };
  return {
    name: 'no-events-or-signals',
    scalars: [
      ['text[]', texts(unread)],
      ['text[]', texts(takers)],
      [
        'bigint[]',
        arrayBytes(
          'bigint',
          takers.flatMap((turn) => turn.unread?.signals ?? []),
        ),
      ],
    ],
    text: (ids, takersIds, known) => `${noEvents(ids)} AND NOT EXISTS (
        SELECT 1 FROM rhythm.signals s WHERE s.execution_id = ANY(${takersIds}) AND s.consumed_at IS NULL AND s.seq <> ALL(${known}))`,
  };
}
