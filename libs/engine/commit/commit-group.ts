// Which finished work goes into one statement, and in which order.

import type { CommitOutcome, TaskCommit, TurnCommit } from '../../store/index.js';
import type { HeldItem } from '../work/held-work.js';
import type { CommitResult, FinishedWork } from './finished-work.js';

const MAX_UNITS = 500;
const MAX_ROWS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** How many of the waiting works, from the first on, one statement can write. */
export function groupSize(waiting: readonly { work: FinishedWork; bytes: number }[]): number {
  let rows = 0;
  let bytes = 0;
  let count = 0;
  const runs = new Set<string>();
  const asked = new Set<string>();
  for (const { work, bytes: size } of waiting) {
    // A turn may take over a child with an id of its own; one statement cannot write the same row for both of them.
    const own = work.turn ? ownIds(work.turn) : [];
    if (work.turn && (asked.has(work.turn.id) || own.some((id) => runs.has(id)))) break;
    rows += 1 + (work.turn ? work.turn.children.length + work.turn.events.length : 0);
    bytes += size;
    if (count > 0 && (count >= MAX_UNITS || rows > MAX_ROWS || bytes > MAX_BYTES)) break;
    count++;
    if (work.turn) runs.add(work.turn.id);
    for (const id of own) asked.add(id);
  }
  return count;
}

/** The tasks and turns of a group as one commit takes them. */
export class CommitGroup {
  readonly tasks: TaskCommit[] = [];
  readonly turns: TurnCommit[] = [];
  // By work; undefined where it has none.
  private readonly taskPlaces: (number | undefined)[];
  private readonly turnPlaces: (number | undefined)[];

  constructor(works: readonly FinishedWork[]) {
    this.taskPlaces = works.map(() => undefined);
    this.turnPlaces = works.map(() => undefined);
    // Rows are locked in one order, so that two groups rarely deadlock.
    const order = works.map((_, n) => n).sort((a, b) => compare(works[a], works[b]));
    for (const n of order) {
      const { task, turn } = works[n];
      if (task) this.taskPlaces[n] = this.tasks.push(task) - 1;
      if (turn) {
        turn.needs = this.taskPlaces[n];
        this.turnPlaces[n] = this.turns.push(turn) - 1;
      }
    }
  }

  /** The places of the turns of those works that meet a condition. */
  turnsOf(works: readonly FinishedWork[], condition: (work: FinishedWork) => boolean): number[] {
    if (this.turns.length === 0) return [];
    return this.turnPlaces.filter((turn, n): turn is number => turn !== undefined && condition(works[n]));
  }

  /** The work that a turn belongs to. */
  workOf(turn: number): number {
    return this.turnPlaces.indexOf(turn);
  }

  /** The outcome of the commit, by work. `claimed`: the children that were claimed at once, by turn. */
  resultsOf(outcome: CommitOutcome, claimed: readonly (readonly HeldItem[])[], certain: boolean): CommitResult[] {
    const { tasks, turns, fence } = outcome;
    // Of tasks that were written there is nothing else to say, so they share one.
    const written: CommitResult = { task: true, turn: false, certain, fence, claimedAtOnce: NONE };
    return this.taskPlaces.map((task, n) => {
      const turn = this.turnPlaces[n];
      const won = task !== undefined && tasks[task];
      if (turn === undefined) return won ? written : { task: false, turn: false, certain, fence, claimedAtOnce: NONE };
      return { task: won, turn: turns[turn], certain, fence, claimedAtOnce: claimed[turn] ?? NONE };
    });
  }
}

const NONE: readonly HeldItem[] = [];

function compare(a: FinishedWork, b: FinishedWork): number {
  const x = a.turn ?? a.task;
  const y = b.turn ?? b.task;
  if (!x || !y) return 0;
  return x.bucket - y.bucket || (x.id < y.id ? -1 : x.id > y.id ? 1 : 0);
}

function ownIds({ id, children }: TurnCommit): string[] {
  if (children.length === 0) return [];
  const generated = `${id}:`;
  return children.filter((child) => !child.id.startsWith(generated)).map((child) => child.id);
}

/** About how long the values of a work are. */
export function sizeOf({ task, turn }: FinishedWork): number {
  let bytes = (task?.output?.length ?? 0) + (task?.error?.length ?? 0);
  if (turn) {
    bytes +=
      (turn.output?.length ?? 0) + (turn.error?.length ?? 0) + (turn.state.action === 'store' ? (turn.state.snapshot?.length ?? 0) : 0);
    for (const child of turn.children) bytes += child.input?.length ?? 0;
    for (const step of turn.endedSteps) bytes += (step.input?.length ?? 0) + (step.output?.length ?? 0);
    bytes += turn.pending?.length ?? 0;
    for (const reply of turn.replies) bytes += reply.payload.length;
    for (const log of turn.logs) bytes += lengthOf(log.detail);
    bytes += turn.kept?.pendingCalls.length ?? 0;
  }
  return bytes;
}

// The strings of a log line or note: a message, or a few short values.
function lengthOf(detail: unknown): number {
  if (typeof detail === 'string') return detail.length;
  if (typeof detail !== 'object' || detail === null) return 8;
  let length = 0;
  for (const value of Object.values(detail)) length += typeof value === 'string' ? value.length : 8;
  return length;
}
