// Resume groups of turns, as parts of a commit: the old ones are deleted, the new ones inserted.

import { wake } from '../work-queue.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

const NONE: readonly never[] = [];

// Members of groups beyond this number wake their run one by one: correct, only less frugal.
const MOST_GROUPS = 1_000;

/**
 * Replaces the resume groups of the runs. A child may have counted an old group down since the run was loaded: its event is
 * stored, the run was not woken, and the new group would wait for that child. The deleted row shows it (it is the newest one, locked
 * here), and the run is woken once more.
 */
export function addGroups(commit: CommitBuilder, fence: number, turns: readonly TurnCommit[]): void {
  const had = each(turns, ({ remaining }) => (remaining === undefined ? NONE : [remaining]));
  if (had.length > 0) {
    commit.add(
      'old-groups',
      [...owner(commit, had), ['integer', had.map(({ item }) => item ?? -1)]],
      (unnest) => `regrouped AS MATERIALIZED (
        SELECT d.id, d.bucket, d.seen FROM ${unnest} AS d(n, id, bucket, seen) WHERE ${commit.ofWinner}
      ), old_groups AS (
        DELETE FROM rhythm.resume_groups g USING regrouped d WHERE g.execution_id = d.id AND g.bucket = d.bucket
        RETURNING g.execution_id, g.bucket, g.remaining, d.seen
      ), woken_counted AS (
        ${wake(`(SELECT execution_id, bucket FROM old_groups GROUP BY execution_id, bucket, seen HAVING sum(remaining) <> seen) o
        JOIN rhythm.executions e ON e.id = o.execution_id AND e.bucket = o.bucket`)}
      )`,
    );
  }
  if (turns.every(({ groups: asked }) => asked.length === 0)) return;
  const groups = turns.flatMap((turn, n) => turn.groups.slice(0, MOST_GROUPS).map((item, number) => ({ turn, n, item, number })));
  commit.add(
    'groups',
    [
      ...owner(commit, groups),
      ['bigint', groups.map(({ number }) => groupNumber(fence, number))],
      ['text', groups.map(({ item }) => item.until)],
      ['integer', groups.map(({ item }) => item.members.length)],
      ['text', groups.map(({ item }) => multirange(item.members))],
    ],
    (unnest) => `new_groups AS (
      INSERT INTO rhythm.resume_groups (execution_id, bucket, group_no, until, remaining, members)
      SELECT d.id, d.bucket, d.group_no, d.until, d.remaining, d.members::int4multirange
      FROM ${unnest} AS d(n, id, bucket, group_no, until, remaining, members) WHERE ${commit.ofWinner}
    )`,
  );
}

// Never the number of a group that the same commit deletes: delete and insert happen in no particular order. So it is derived
// from the new fence.
function groupNumber(fence: number, number: number): number {
  return fence - (fence % MOST_GROUPS) + number;
}

// Consecutive numbers become one range: {1,2,3,7} → {[1,4),[7,8)}.
function multirange(members: readonly number[]): string {
  const sorted = [...members].sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (to + 1 < sorted.length && sorted[to + 1] <= sorted[to] + 1) to++;
    ranges.push(`[${sorted[from]},${sorted[to] + 1})`);
    from = to + 1;
  }
  return `{${ranges.join(',')}}`;
}
