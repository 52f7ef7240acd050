// Writes what finished attempts and turns came to: one statement for the whole group, each item fenced by itself.

import { newFence } from '../fence.js';
import type { Runner } from '../statement.js';
import { CommitBuilder } from './commit-builder.js';
import {
  addCancels,
  addChildren,
  addGroups,
  addHistory,
  addReplies,
  addTimers,
  addWithdrawals,
  type ImmediateClaim,
} from './effects-commit.js';
import { addLostOrders, addMarks, addParents } from './endings-commit.js';
import { addInsistence, wasGivenUp } from './fence-losers.js';
import { addTasks, type TaskCommit } from './task-commit.js';
import { addTurns, knownStates, nothingUnseen, type TurnCommit } from './turn-commit.js';

/** A group of finished work. */
export interface WorkCommit {
  workerId: string;
  tasks: readonly TaskCommit[];
  turns: readonly TurnCommit[];
  /** Claims whose last item is in this group. */
  claims: readonly string[];
  /** Children of these turns that the worker takes at once. */
  immediate?: ImmediateClaim;
  /** Write first what holds when nobody lost a fence; only if somebody did, write it the careful way. Not inside a transaction. */
  optimistic?: boolean;
  /** The tasks are ended because they waited too long: only if none of them has been marked as started. */
  onlyUnstarted?: boolean;
}

/** What won its fence; the rest lost its claim and is to be dropped. */
export interface CommitOutcome {
  tasks: boolean[];
  turns: boolean[];
  /** The fence at which the winners are now, and the children that their turns started. */
  fence: number;
}

/**
 * Commits a group. Rows are locked in the order of (bucket, id), so that two groups rarely meet crosswise; where they do,
 * PostgreSQL stops one of them with a deadlock and the caller runs it again.
 */
export async function commitWork(db: Runner, work: WorkCommit): Promise<CommitOutcome> {
  const { tasks, turns, claims } = work;
  // A transactional task has written its own end; when its claim holds more, nothing is left to write.
  const fence = newFence();
  if (tasks.length === 0 && turns.length === 0 && claims.length === 0) return { tasks: [], turns: [], fence };
  if (work.optimistic && turns.length + tasks.length > 0) {
    try {
      await write(db, work, fence, true);
      return { tasks: tasks.map(() => true), turns: turns.map(() => true), fence };
    } catch (error) {
      if (!wasGivenUp(error)) throw error;
    }
  }
  const outcome: CommitOutcome = { tasks: tasks.map(() => false), turns: turns.map(() => false), fence };
  for (const row of await write(db, work, fence, false)) outcome[row.kind === 'task' ? 'tasks' : 'turns'][row.n] = true;
  return outcome;
}

async function write(
  db: Runner,
  { workerId, tasks, turns, claims, immediate, onlyUnstarted = false }: WorkCommit,
  fence: number,
  optimistic: boolean,
): Promise<{ kind: 'task' | 'turn'; n: number }[]> {
  const commit = new CommitBuilder(optimistic);
  if (tasks.length > 0) addTasks(commit, workerId, fence, tasks, fusions(tasks, turns), onlyUnstarted);
  if (turns.length > 0) {
    addTurns(commit, workerId, fence, turns);
    addChildren(commit, workerId, fence, turns, immediate);
    addReplies(commit, turns);
    addTimers(commit, turns);
    addWithdrawals(commit, turns);
    addCancels(commit, turns);
    addGroups(commit, fence, turns);
    addHistory(commit, turns);
  }
  addParents(commit, tasks, turns);
  addMarks(commit, tasks, turns);
  addLostOrders(commit, tasks);
  if (claims.length > 0) {
    commit.add(
      'claims',
      [['text', claims]],
      (unnest, worker) =>
        `released AS (DELETE FROM rhythm.claims c USING ${unnest} AS d(claim_id) WHERE c.worker_id = ${worker} AND c.claim_id = d.claim_id)`,
      [['text', workerId]],
    );
  }
  // A lost fence is rare, and what is written for losers (wakes, events for parents that did not move) makes a statement of one
  // step half as long again. So a worker first writes what holds when all win, and insists on it.
  if (optimistic) {
    const expected = [['turned', turns.length] as const, ['ended', tasks.length] as const, ['renewed', knownStates(turns)] as const];
    addInsistence(commit, expected, nothingUnseen(turns));
  }
  const winners = [
    tasks.length > 0 ? `SELECT 'task' AS kind, n FROM ended` : '',
    turns.length > 0 ? `SELECT 'turn' AS kind, n FROM turned` : '',
  ];
  const answer = optimistic ? 'SELECT n FROM all_won' : winners.filter(Boolean).join(' UNION ALL ') || 'SELECT 1 WHERE false';
  return db.rows(commit.statement(answer), commit.values);
}

// Which turn of the group (if any) each task is fused with.
function fusions(tasks: readonly TaskCommit[], turns: readonly TurnCommit[]): (number | null)[] {
  const fused: (number | null)[] = tasks.map(() => null);
  turns.forEach((turn, n) => {
    if (turn.needs !== undefined) fused[turn.needs] = n;
  });
  return fused;
}
