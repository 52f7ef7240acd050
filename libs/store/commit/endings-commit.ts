// The ends of executions, as parts of a commit: an event and a wake for the parent, a mark by which people find failures.

import { CLOCK } from '../clock.js';
import { ENDED, ENDED_FOR_GOOD, isEnded } from '../ended.js';
import { deleteWaiting } from '../waiting-rows.js';
import { wake } from '../work-queue.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TaskCommit } from './task-commit.js';
import type { TurnCommit } from './turn-commit.js';

/**
 * An event and a wake for each parent. A child that belongs to a resume group counts it down instead of waking the parent, once
 * per batch; if the group's row was replaced meanwhile, the update finds nothing and the parent is woken: one wake too many is
 * harmless. A parent that has ended gets no event. A parent whose own turn is in the same commit is woken too: its groups are
 * being replaced, and a statement cannot delete a row that it updates.
 */
export function addParents(
  commit: CommitBuilder,
  tasks: readonly TaskCommit[],
  turns: readonly TurnCommit[],
  turned: readonly string[],
): void {
  // In an optimistic commit the parents of fused children move with them, or nothing is written.
  const moved = new Set(commit.optimistic ? turns.map((turn) => turn.needs) : []);
  const fromTasks = tasks.some((task, n) => task.parent && isEnded(task.status) && !moved.has(n));
  const fromTurns = turns.some((turn) => turn.parent && isEnded(turn.status));
  if (!fromTasks && !fromTurns) return;
  const fused = turns.some((turn) => turn.needs !== undefined);
  // The parent of a fused child has its result in memory; the event is written only if the parent's turn lost its fence.
  const ofTasks = `SELECT parent_id, parent_bucket, parent_call, status, payload, n FROM ended WHERE parent_id IS NOT NULL
    ${fused ? `AND (fused IS NULL OR NOT (${commit.won('lost_turns', 'fused')}))` : ''}`;
  const ofTurns = `SELECT parent_id, parent_bucket, parent_call, status, payload, n FROM turned WHERE parent_id IS NOT NULL`;
  const sources = [fromTasks ? ofTasks : '', fromTurns ? ofTurns : ''].filter(Boolean).join(' UNION ALL ');
  commit.add(
    `parents-${fromTasks}-${fromTurns}-${fused}-${turned}`,
    [],
    () => `parent_events AS MATERIALIZED (
      SELECT p.id, p.bucket, p.queue, p.priority, s.parent_call AS call, s.payload, CASE WHEN s.status = 'completed' THEN 'completed' ELSE 'failed' END AS kind
      FROM (${sources}) s JOIN rhythm.executions p ON p.id = s.parent_id AND p.bucket = s.parent_bucket
      WHERE p.status NOT IN ${ENDED_FOR_GOOD}
    ), parent_inbox AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT id, bucket, nextval('rhythm.event_seq'), kind, call, payload::json FROM parent_events
    ), counted_down AS (
      UPDATE rhythm.resume_groups g SET remaining = CASE WHEN g.until = 'all' AND c.failed THEN 0 ELSE g.remaining - c.n END
      FROM (
        SELECT o.execution_id, o.bucket, o.group_no, count(*)::integer AS n, bool_or(t.kind = 'failed') AS failed
        FROM parent_events t JOIN rhythm.resume_groups o ON o.execution_id = t.id AND o.bucket = t.bucket AND o.members @> t.call AND o.remaining > 0
        ${turned.length > 0 ? `WHERE o.execution_id <> ALL(ARRAY(${turned.map((rows) => `SELECT id FROM ${rows}`).join(' UNION ALL ')}))` : ''}
        GROUP BY o.execution_id, o.bucket, o.group_no
      ) c WHERE g.execution_id = c.execution_id AND g.bucket = c.bucket AND g.group_no = c.group_no
      RETURNING g.execution_id, g.bucket, g.members, g.remaining
    ), woken AS (
      ${wake(
        `(
        SELECT DISTINCT t.id, t.bucket, t.queue, t.priority FROM parent_events t WHERE NOT EXISTS (
          SELECT 1 FROM counted_down c WHERE c.execution_id = t.id AND c.bucket = t.bucket AND c.members @> t.call AND c.remaining > 0)
      ) w`,
        'w.',
      )}
    )`,
  );
}

/**
 * Marks executions that failed or were cancelled, and deletes what was stored for tasks that have ended: their schedule, cancel
 * requests, tokens, and the mark of a paused task that was completed from outside.
 */
export function addMarks(commit: CommitBuilder, tasks: readonly TaskCommit[], turns: readonly TurnCommit[]): void {
  const bad = (status: string) => status === 'failed' || status === 'cancelled';
  const ofTasks = tasks.some((task) => bad(task.status));
  const ofTurns = turns.some((turn) => bad(turn.status));
  if (ofTasks || ofTurns) {
    const source = (from: string) => `SELECT id, bucket, status FROM ${from} WHERE status IN ('failed', 'cancelled')`;
    const sources = [ofTasks ? source('ended') : '', ofTurns ? source('turned') : ''].filter(Boolean).join(' UNION ALL ');
    commit.add(
      `marks-${ofTasks}-${ofTurns}`,
      [],
      () => `marked AS (
        INSERT INTO rhythm.marked_executions (execution_id, bucket, status) ${sources}
        ON CONFLICT (execution_id, bucket) DO UPDATE SET status = excluded.status, marked_at = ${CLOCK}
      )`,
    );
  }
  if (tasks.some((task) => isEnded(task.status) && (task.clearSchedule || task.control))) {
    commit.add(
      'cleared',
      [],
      () => `cleared AS (
        DELETE FROM rhythm.scheduled_queue s USING ended t
        WHERE t.status IN ${ENDED} AND s.execution_id = t.id AND s.bucket = t.bucket
      ), no_requests AS (
        DELETE FROM rhythm.inbox i USING ended t
        WHERE t.status IN ${ENDED} AND i.execution_id = t.id AND i.bucket = t.bucket
      ), no_tokens AS (
        DELETE FROM rhythm.completion_tokens k USING ended t
        WHERE t.status IN ${ENDED} AND k.execution_id = t.id AND k.bucket = t.bucket
      ), no_waiting AS (
        ${deleteWaiting('ended d')} AND d.status IN ${ENDED}
      ), no_marks AS (
        DELETE FROM rhythm.marked_executions m USING ended t
        WHERE t.status = 'completed' AND m.execution_id = t.id AND m.bucket = t.bucket
      )`,
    );
  }
  // A failed run keeps its timers for a retry, but not the time limits that would fail it again.
  if (turns.some((turn) => turn.status === 'failed')) {
    commit.add(
      'no-limits',
      [],
      () => `no_limits AS (
        DELETE FROM rhythm.scheduled_queue s USING turned t
        WHERE t.status = 'failed' AND s.execution_id = t.id AND s.bucket = t.bucket AND s.kind = ANY('{deadline,grace,start}'::text[])
      )`,
    );
  }
}

/** A task that was to be cancelled and lost its fence is woken, to read the request again; if it has ended, the claim of the wake deletes it. */
export function addLostCancels(commit: CommitBuilder, tasks: readonly TaskCommit[]): void {
  const cancelled = tasks.map((task, n) => ({ task, n })).filter(({ task }) => task.control);
  if (cancelled.length === 0) return;
  commit.add(
    'lost-cancels',
    [
      commit.numbers(cancelled.map(({ n }) => n)),
      ['text', cancelled.map(({ task }) => task.id)],
      ['smallint', cancelled.map(({ task }) => task.bucket)],
    ],
    (unnest) => `woken_again AS (
      ${wake(`${unnest} AS d(n, id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
      WHERE NOT (${commit.won('lost_tasks', 'd.n')})`)}
    )`,
  );
}
