// Outcomes of calls that the turn itself decides, as a part of a commit: an event and a wake for the run.

import { wake } from '../work-queue.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

/** Writes the outcome of calls that no other execution will end. */
export function addReplies(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const replies = each(turns, (turn) => turn.replies);
  if (replies.length === 0) return;
  commit.add(
    'replies',
    [
      ...owner(commit, replies),
      ['integer', replies.map(({ item }) => item.call)],
      ['text', replies.map(({ item }) => item.kind)],
      ['text', replies.map(({ item }) => item.payload)],
    ],
    (unnest) => `replied AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT d.id, d.bucket, nextval('rhythm.event_seq'), d.kind, d.call, d.payload::json FROM ${unnest} AS d(n, id, bucket, call, kind, payload) WHERE ${commit.ofWinner}
      RETURNING execution_id, bucket
    ), woken_replied AS (
      ${wake('(SELECT DISTINCT execution_id, bucket FROM replied) r JOIN rhythm.executions e ON e.id = r.execution_id AND e.bucket = r.bucket')}
    )`,
  );
}
