// Writes the outcome of finished attempts and turns: one statement for the whole group, each item with a fence of its own.

import type { Runner } from '../connect/statement.js';
import { newFence } from '../fence.js';
import { addCancels } from './cancels.js';
import { addChildren, type ImmediateClaim } from './children.js';
import { CommitBuilder } from './commit-builder.js';
import { addLostCancels, addMarks, addParents } from './endings-commit.js';
import { addFailureHandlers } from './failure-handlers.js';
import { addExpectations, hasLosers } from './fence-losers.js';
import { addKeptStates } from './kept-states.js';
import { addNotes } from './notes.js';
import { addOldSteps } from './old-steps.js';
import { addReplies } from './replies.js';
import { addGroups } from './resume-groups.js';
import { addCancelledSteps, addEndedSteps, addStandingClaim, type StandingClaim } from './steps-of-turns.js';
import { addTasks, type TaskCommit } from './task-commit.js';
import { addTimers, addWithdrawals } from './timers.js';
import type { TurnCommit } from './turn-commit.js';
import { addTurns } from './turn-rows.js';
import { nothingUnread } from './unread-turns.js';
import { addWaiting } from './waiting.js';

/** A group of finished work. */
export interface WorkCommit {
  workerId: string;
  tasks: readonly TaskCommit[];
  turns: readonly TurnCommit[];
  /** Claims whose last item is in this group. */
  claims: readonly string[];
  /** Claims whose row is deleted too, but only if every item wins its fence. */
  claimsIfWon?: readonly string[];
  /** Children of these turns that the worker runs at once. */
  immediate?: ImmediateClaim;
  /** A new claim of the runs that have steps without rows from now on. */
  standing?: StandingClaim;
  /** First write what is right if no item lost its fence, and only if one did, write it with checks. Not inside a transaction. */
  optimistic?: boolean;
  /** The new fence of everything that this commit moves; a random one by default. */
  fence?: number;
}

/** Which items won their fence; the others lost their claim, and their results are to be dropped. */
export interface CommitOutcome {
  tasks: boolean[];
  turns: boolean[];
  /** The new fence of the winners, and of the children that their turns started. */
  fence: number;
  /** `claimsIfWon` are deleted. */
  allWon: boolean;
}

/**
 * Commits a group. Rows are locked in the order of (bucket, id), so that two groups rarely deadlock; where they do, PostgreSQL
 * cancels one of them and the caller runs it again.
 */
export async function commitWork(db: Runner, work: WorkCommit): Promise<CommitOutcome> {
  const { tasks, turns, claims } = work;
  const fence = work.fence ?? newFence();
  // A transactional task has written its own end; if its claim holds other items too, nothing is left to write.
  if (tasks.length === 0 && turns.length === 0 && claims.length === 0) return { tasks: [], turns: [], fence, allWon: false };
  if (work.optimistic && turns.length + tasks.length > 0) {
    try {
      await write(db, work.claimsIfWon?.length ? { ...work, claims: [...claims, ...work.claimsIfWon] } : work, fence, true);
      return { tasks: tasks.map(() => true), turns: turns.map(() => true), fence, allWon: true };
    } catch (error) {
      if (!hasLosers(error)) throw error;
    }
  }
  const outcome: CommitOutcome = { tasks: tasks.map(() => false), turns: turns.map(() => false), fence, allWon: false };
  for (const row of await write(db, work, fence, false)) outcome[row.kind === 'task' ? 'tasks' : 'turns'][row.n] = true;
  return outcome;
}

async function write(
  db: Runner,
  { workerId, tasks, turns, claims, immediate, standing }: WorkCommit,
  fence: number,
  optimistic: boolean,
): Promise<{ kind: 'task' | 'turn'; n: number }[]> {
  const commit = new CommitBuilder(optimistic);
  const moved: (readonly [rows: string, count: number])[] = [];
  if (tasks.length > 0) addTasks(commit, workerId, fence, tasks, fusions(tasks, turns));
  if (turns.length > 0) {
    moved.push(...addTurns(commit, workerId, fence, turns));
    addChildren(commit, workerId, fence, turns, immediate);
    addEndedSteps(commit, workerId, turns);
    addStandingClaim(commit, workerId, turns, standing);
    addCancelledSteps(commit, fence, turns);
    addReplies(commit, turns);
    addTimers(commit, turns);
    addWithdrawals(commit, turns);
    addCancels(commit, turns);
    addGroups(commit, fence, turns);
    addNotes(commit, turns);
    addKeptStates(commit, turns);
    addWaiting(commit, turns);
    addOldSteps(commit, turns);
  }
  addParents(
    commit,
    tasks,
    turns,
    moved.map(([rows]) => rows),
  );
  addMarks(commit, tasks, turns);
  addFailureHandlers(commit, fence, tasks, turns);
  addLostCancels(commit, tasks);
  if (claims.length > 0) {
    commit.add(
      'claims',
      [['text', claims]],
      (unnest, worker) =>
        `released AS (DELETE FROM rhythm.claims c USING ${unnest} AS d(claim_id) WHERE c.worker_id = ${worker} AND c.claim_id = d.claim_id)`,
      [['text', workerId]],
    );
  }
  // A lost fence is rare, and what is written for losers (wakes, events for parents that did not move) makes the statement of one
  // step half as long again. So a worker first writes what is right if all win, with the condition that they do.
  if (optimistic) {
    addExpectations(commit, [...moved, ['ended', tasks.length]], nothingUnread(turns));
  }
  const winners = [
    tasks.length > 0 ? `SELECT 'task' AS kind, n FROM ended` : '',
    turns.length > 0 ? `SELECT 'turn' AS kind, n FROM turned` : '',
  ];
  const result = optimistic ? 'SELECT n FROM all_won' : winners.filter(Boolean).join(' UNION ALL ') || 'SELECT 1 WHERE false';
  const { statement, values } = commit.statement(result);
  return db.rows(statement, values);
}

// For each task the turn of the group that it is fused with, if any.
function fusions(tasks: readonly TaskCommit[], turns: readonly TurnCommit[]): (number | null)[] {
  const fused: (number | null)[] = tasks.map(() => null);
  turns.forEach((turn, n) => {
    if (turn.needs !== undefined) fused[turn.needs] = n;
  });
  return fused;
}
