// Cancellation of children, as a part of a commit: those that the flow named, or all of a run that is cancelled itself.

import { LIVE } from '../ended.js';
import { isBelow, isChildWithOwnId } from '../relatives.js';
import { wake } from '../work-queue.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

const BY_ITS_WORKFLOW = '"the workflow that started it was cancelled"';

/** The reason for the cancellation of a call, as JSON text; null if people gave none. */
export function cancelReasonOf({ cancelReasons }: TurnCommit, call: number | null): string | null {
  const given = call === null ? undefined : cancelReasons?.get(call);
  return given === undefined ? BY_ITS_WORKFLOW : given;
}

// The statement does not see the children that this turn itself starts: they belong to its clean-up and are not cancelled.
const CALLED = `c.parent_call IS NOT NULL AND c.status IN ${LIVE} AND (d.call IS NULL OR c.parent_call = d.call)`;

/** Requests the cancellation of children that have not ended: an event and a wake for each. */
export function addCancels(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const all = each(turns, (turn) => (turn.cascade ? [null] : []));
  const named = each<number | null>(turns, (turn) => turn.cancels);
  const cancels = [...all, ...named];
  if (cancels.length === 0) return;
  commit.add(
    'cancels',
    [
      ...owner(commit, cancels),
      ['integer', cancels.map(({ item }) => item)],
      ['text', cancels.map(({ turn, item }) => cancelReasonOf(turn, item))],
    ],
    (unnest) => `cancelling AS MATERIALIZED (
      SELECT d.id, d.bucket, d.call, d.reason FROM ${unnest} AS d(n, id, bucket, call, reason) WHERE ${commit.ofWinner}
    ), cancelled AS MATERIALIZED (
      SELECT c.id, c.bucket, c.queue, c.priority, d.reason FROM cancelling d JOIN rhythm.executions c
        ON c.bucket = d.bucket AND ${isBelow('c.id', 'd.id')} AND c.parent_id = d.id AND ${CALLED}
      UNION ALL
      SELECT c.id, c.bucket, c.queue, c.priority, d.reason FROM cancelling d JOIN rhythm.executions c
        ON ${isChildWithOwnId('c.', 'd.id')} AND ${CALLED}
    ), cancel_events AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT id, bucket, nextval('rhythm.event_seq'), 'cancel', 0, reason::json FROM cancelled
    ), woken_cancelled AS (
      ${wake('cancelled', '')}
    )`,
  );
}
