// Which finished work goes into one statement, and in which order.

import type { CommitOutcome, TaskCommit, TurnCommit } from '../../store/index.js';
import type { HeldItem } from '../work/held-work.js';
import type { CommitResult, FinishedWork } from './finished-work.js';

const MAX_UNITS = 500;
const MAX_ROWS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** How many of the waiting works, from the first on, one statement can write. */
export function groupSize(waiting: readonly { work: FinishedWork }[]): number {
  let rows = 0;
  let bytes = 0;
  let count = 0;
  const runs = new Set<string>();
  const asked = new Set<string>();
  for (const { work } of waiting) {
    // A turn may take over a child with an id of its own; one statement cannot write the same row for both of them.
    const own = work.turn ? ownIds(work.turn) : [];
    if (work.turn && (asked.has(work.turn.id) || own.some((id) => runs.has(id)))) break;
    rows += 1 + (work.turn ? work.turn.children.length + work.turn.events.length : 0);
    bytes += sizeOf(work);
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
  private readonly places: { task?: number; turn?: number }[];

  constructor(works: readonly FinishedWork[]) {
    this.places = works.map(() => ({}));
    // Rows are locked in one order, so that two groups rarely deadlock.
    const order = works.map((_, n) => n).sort((a, b) => compare(works[a], works[b]));
    for (const n of order) {
      const { task, turn } = works[n];
      const place = this.places[n];
      if (task) place.task = this.tasks.push(task) - 1;
      if (turn) {
        turn.needs = place.task;
        place.turn = this.turns.push(turn) - 1;
      }
    }
  }

  /** The places of the turns of those works that meet a condition. */
  turnsOf(works: readonly FinishedWork[], condition: (work: FinishedWork) => boolean): number[] {
    return this.places.flatMap(({ turn }, n) => (turn !== undefined && condition(works[n]) ? [turn] : []));
  }

  /** The work that a turn belongs to. */
  workOf(turn: number): number {
    return this.places.findIndex((place) => place.turn === turn);
  }

  /** The outcome of the commit, by work. `claimed`: the children that were claimed at once, by turn. */
  resultsOf(outcome: CommitOutcome, claimed: readonly (readonly HeldItem[])[], certain: boolean): CommitResult[] {
    return this.places.map(({ task, turn }) => ({
      task: task !== undefined && outcome.tasks[task],
      turn: turn !== undefined && outcome.turns[turn],
      certain,
      fence: outcome.fence,
      claimedAtOnce: (turn !== undefined && claimed[turn]) || NONE,
    }));
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

function sizeOf({ task, turn }: FinishedWork): number {
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
