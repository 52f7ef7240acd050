// Log lines and notes of turns, as a part of a commit: the newest are kept in the history of the run.

import { readable } from '../json-columns.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

/** Stores log lines, and deletes those that are older than the history keeps. */
export function addNotes(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const logs = each(turns, (turn) => turn.logs);
  if (logs.length === 0) return;
  commit.add(
    'logs',
    [
      ...owner(commit, logs),
      ['text', logs.map(({ item }) => item.kind)],
      ['float8', logs.map(({ item }) => item.at)],
      ['text', logs.map(({ item }) => readable(JSON.stringify(item.detail)))],
      ['integer', logs.map(({ turn }) => turn.keepNotes)],
    ],
    (unnest) => `lines AS MATERIALIZED (
        SELECT d.* FROM ${unnest} AS d(n, id, bucket, kind, at, detail, keep) WHERE ${commit.ofWinner}
      ), logged AS (
        INSERT INTO rhythm.history (execution_id, bucket, seq, at, kind, detail)
        SELECT id, bucket, nextval('rhythm.event_seq'), to_timestamp(at / 1000), kind, detail::jsonb FROM lines WHERE keep > 0
      ), trimmed AS (
        DELETE FROM rhythm.history h USING (
          SELECT DISTINCT s.id, s.bucket, (SELECT o.seq FROM rhythm.history o WHERE o.execution_id = s.id AND o.bucket = s.bucket
            ORDER BY o.seq DESC OFFSET s.keep LIMIT 1) AS last FROM lines s
        ) t WHERE h.execution_id = t.id AND h.bucket = t.bucket AND h.seq <= t.last
      )`,
  );
}
