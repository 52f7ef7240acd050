// Steps in place: the worker that holds a run runs its next steps at once, without rows of their own. They stand in the row of
// their run until the turn that consumes their result writes it.

import { childId, isReadable, type NewExecution, type PendingStep, pendingText, type TurnCommit } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { QueueHead } from '../loops/queue-head.js';
import type { DatabaseClock } from '../work/database-clock.js';
import type { HeldItem, HeldWork } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import { RunHere } from './run-here.js';
import type { StepEnd } from './step-ends.js';
import type { TurnOutcome } from './turn-outcome.js';
import type { CachedRun, VmCache } from './vm-cache.js';

// The steps of a run are written again with each of its turns, so they must be small.
const MOST_INPUT = 2_048;
const MOST_INPUTS = 8_192;
// While other work is queued, a run goes on for this many turns or this long before a step of it goes through the queue.
const MOST_TURNS_AHEAD = 32;
const LONGEST_AHEAD_MS = 1_000;
// Together with the run, the call and the worker that is enough, and V8 stores such a number without an object.
const TOKENS = 2 ** 30;

/** A held item that is a step without a row. */
export type StepItem = HeldItem & { step: PendingStep };

/** Steps that a turn starts without rows. */
export interface ChosenSteps {
  readonly items: readonly StepItem[];
  /** The claim by which they are found if this worker dies; absent until the commit that makes it. */
  claimId: string | undefined;
}

export function isStep(item: HeldItem): item is StepItem {
  return item.step !== undefined;
}

export class StepsInPlace {
  private readonly runs = new Map<string, RunHere<StepEnd>>();
  /** Every step that is chosen or runs here. */
  private readonly steps = new Set<StepItem>();

  constructor(
    private readonly parts: WorkerParts,
    private readonly head: QueueHead,
    private readonly slots: Slots,
    private readonly held: HeldWork,
    private readonly cache: VmCache,
    private readonly clock: DatabaseClock,
    /** Aborted when no new work is taken. */
    private readonly closing: AbortSignal,
  ) {}

  /**
   * Chooses the children of a turn that this worker runs at once, and takes them out of the turn's children. All of them or none if
   * the run waits for several at once: a child with a row counts its group down, and one without cannot.
   */
  choose(outcome: TurnOutcome): ChosenSteps | undefined {
    const { commit, keep, steps: ended } = outcome;
    const { children } = commit;
    // The turn's own steps have ended: the next ones may have their slots.
    if (ended) this.slots.release('reserved', ended.length);
    if (keep && keep.pending.length > 0 && commit.groups.length > 0) dropGroups(commit, keep);
    if (children.length === 0 || !keep || this.closing.aborted || !this.cache.accepts(keep) || !this.mayGoOn(keep)) return undefined;
    const most = this.parts.options.stepsInPlace;
    const room = Math.min(this.slots.freeForTasks(), most - keep.pending.length);
    if (room <= 0) return undefined;
    const isGrouped = commit.groups.length > 0;
    if (isGrouped && (children.length > room || commit.groups.some(({ members }) => members.length > most))) return undefined;
    const chosen = this.plainOf(children, keep.pending, room);
    if (chosen.length === 0 || (isGrouped && chosen.length < children.length)) return undefined;
    // The run's claim serves only if its row has a step of this worker at the fence that this turn replaces: then nobody has deleted the
    // claim. If this worker was declared dead and does not know it yet, its steps are queued and its claims are gone.
    const isNamed = ended !== undefined || keep.pending.some(({ worker }) => worker === this.parts.workerId);
    const items: StepItem[] = [];
    const pending = [...keep.pending];
    for (const child of chosen) {
      const item = this.stepOf(child, commit, keep.turns);
      items.push(item);
      pending.push(item.step);
      this.steps.add(item);
    }
    commit.children = chosen.length === children.length ? NONE : children.filter((child) => !chosen.includes(child));
    keep.pending = pending;
    commit.pending = pendingText(pending);
    if (isGrouped) dropGroups(commit, keep);
    this.slots.acquire('reserved', items.length);
    const claimId = isNamed ? this.runs.get(commit.id)?.claimId : undefined;
    const isOpen = claimId !== undefined && this.held.reserve(claimId, items.length);
    return { items, claimId: isOpen ? claimId : undefined };
  }

  /** The commit is written: the steps belong to this worker. Each keeps its reserved slot until its lane runs it. */
  started(runId: string, { items, claimId }: ChosenSteps): void {
    let run = this.runs.get(runId);
    if (!run) {
      run = new RunHere(claimId as string);
      this.runs.set(runId, run);
    }
    run.claimId = claimId as string;
    run.steps += items.length;
    const [now, monotonicNow] = [this.clock.now(), this.parts.runtime.monotonicNow()];
    for (const item of items) {
      item.claimId = claimId as string;
      item.claimedAt = now;
      item.claimedAtMonotonic = monotonicNow;
    }
    this.held.admit(items);
    const { events, workerId } = this.parts;
    if (events.hasListeners('claimed')) events.emit({ type: 'claimed', workerId, count: items.length });
  }

  /** The commit was lost: the steps never were, or are somebody else's. */
  abandoned({ items, claimId }: ChosenSteps): void {
    for (const item of items) this.steps.delete(item);
    if (claimId !== undefined) this.held.unreserve(claimId, items.length);
  }

  /** The step has ended or has a row: it is not counted any more. */
  remove(item: StepItem): void {
    if (!this.steps.delete(item)) return;
    const runId = item.parentId as string;
    const run = this.runs.get(runId);
    if (run && --run.steps === 0) this.runs.delete(runId);
  }

  /** The run of a step that has begun here. */
  runOf(item: StepItem): RunHere<StepEnd> {
    return this.runs.get(item.parentId as string) as RunHere<StepEnd>;
  }

  /** Locks a run that has steps here and is free. Returns what to unlock. */
  tryLock(runId: string): RunHere<StepEnd> | undefined {
    const run = this.runs.get(runId);
    return run?.tryLock() ? run : undefined;
  }

  /** The tokens of all steps that are chosen or run here. */
  tokens(): number[] {
    return Array.from(this.steps, ({ step }) => step.token);
  }

  /** The steps that have run since before this time of the monotonic clock. */
  runningSince(time: number): StepItem[] {
    return [...this.steps].filter((item) => item.running && item.claimedAtMonotonic < time);
  }

  private stepOf(child: NewExecution, { id, bucket }: TurnCommit, turn: number): StepItem {
    const { runtime, workerId } = this.parts;
    const { targetName: name, queue, priority, input, options } = child;
    const call = child.parentCall as number;
    return {
      id: childId(id, call),
      bucket,
      type: 'task',
      name,
      queue,
      priority: priority ?? 0,
      status: 'pending',
      // Until it has a row it has no fence.
      fence: 0,
      attempts: 0,
      crashes: 0,
      parentId: id,
      parentCall: call,
      version: null,
      options: options ?? null,
      tags: null,
      progress: null,
      run: true,
      seq: 0,
      input: input ?? null,
      createdAt: null,
      cancelled: false,
      claimId: '',
      claimedAt: 0,
      claimedAtMonotonic: 0,
      step: {
        call,
        token: Math.floor(runtime.random() * TOKENS),
        // In tenths of a millisecond, and after all that was before it: history is shown in this order.
        startedAt: Math.ceil(this.clock.now() * 10) / 10,
        turn,
        worker: workerId,
        name,
        queue,
        input,
        priority: priority ? priority : undefined,
        options,
      },
      readEventsFirst: false,
      running: undefined,
      dropped: false,
    };
  }

  // What this worker can run now and what needs nothing of a row: no time at which something is due for it, no transaction of its own.
  private plainOf(children: readonly NewExecution[], pending: readonly PendingStep[], most: number): NewExecution[] {
    const plain: NewExecution[] = [];
    let inputs = 0;
    for (const { input } of pending) inputs += input?.length ?? 0;
    for (const child of children) {
      inputs += child.input?.length ?? 0;
      if (plain.length === most || inputs > MOST_INPUTS) break;
      if (this.isPlain(child)) plain.push(child);
    }
    return plain;
  }

  private isPlain({ type, queue, targetName, input, options }: NewExecution): boolean {
    if (type !== 'task' || (input !== undefined && (input.length > MOST_INPUT || !isReadable(input)))) return false;
    if (options && (options.delayMs ?? options.startTimeoutMs ?? options.totalTimeoutMs) !== undefined) return false;
    // PostgreSQL reads nothing of a row of steps with half a surrogate pair in any of them: neither the readers nor a recovery could.
    if (options && !isReadable(JSON.stringify(options))) return false;
    const task = this.parts.tasks.get(targetName);
    return task !== undefined && !task.policy.transactional && this.parts.options.queues.includes(queue);
  }

  // Queued work must not wait for long behind the steps of runs that are here already.
  private mayGoOn(run: CachedRun): boolean {
    if (this.head.isShort) {
      run.ahead = undefined;
      return true;
    }
    const now = this.parts.runtime.monotonicNow();
    run.ahead ??= { turns: 0, since: now };
    const mayGoOn = run.ahead.turns < MOST_TURNS_AHEAD && now - run.ahead.since < LONGEST_AHEAD_MS;
    if (mayGoOn) run.ahead.turns++;
    else run.ahead = undefined;
    return mayGoOn;
  }
}

// A group counts children that have rows. One whose members are all in place is not needed: each of them moves the run.
function dropGroups(commit: TurnCommit, keep: CachedRun): void {
  const inPlace = new Set(keep.pending.map(({ call }) => call));
  commit.groups = commit.groups.filter(({ members }) => members.some((call) => !inPlace.has(call)));
  keep.grouped = commit.groups.length > 0;
}

const NONE: readonly NewExecution[] = [];
