// Fused step: a task has ended here, and the VM of its parent is in memory, so the parent's turn is run before anything is written.
// The result, the turn and the next children are one commit, fenced on both executions. If only the parent's fence is lost, the
// result and a wake are written.

import { type EndedStep, type ParentCall, pendingText, type StoredEvent, type TaskCommit } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { DatabaseClock } from '../work/database-clock.js';
import type { HeldItem } from '../work/held-work.js';
import { TurnGivenUpError } from './long-turns.js';
import type { StepEnd } from './step-ends.js';
import type { StepItem } from './steps-in-place.js';
import { IN_MEMORY } from './turn-events.js';
import type { TurnOutcome } from './turn-outcome.js';
import type { TurnRunner } from './turn-runner.js';
import type { CachedRun, VmCache } from './vm-cache.js';

// With fewer steps kept a turn may drop the very step that it is fused with.
const LEAST_STEPS = 4;
// Each stored signal is compared with the known ones; with more of them it is cheaper to read the database.
const MOST_KNOWN_SIGNALS = 32;
// Until the turn is written, the result that it goes on with is only in memory. One that takes longer gets its result from the database.
const FUSED = { mostMs: 50 };
const NO_SIGNALS: readonly number[] = [];

export class FusedStep {
  constructor(
    private readonly parts: WorkerParts,
    private readonly clock: DatabaseClock,
    private readonly cache: VmCache,
    private readonly runner: TurnRunner,
  ) {}

  /** Runs the turn of the parent, if the parent can move with this end here. Its commit depends on a result that is not written yet. */
  run(item: HeldItem, task: TaskCommit): Promise<TurnOutcome | undefined> | undefined {
    const { parent, status, control } = task;
    if (!parent || control || (status !== 'completed' && status !== 'failed')) return undefined;
    if (this.parts.options.maxSteps < LEAST_STEPS) return undefined;
    const run = this.inMemory(parent.id);
    return run && this.fuse(run, item, task, parent);
  }

  /** The same for steps in place of one run, all completed. Their results are written with the turn and nowhere else. */
  runInPlace(ends: readonly StepEnd[]): TurnOutcome | undefined | Promise<TurnOutcome | undefined> {
    const run = this.inMemory(ends[0].item.parentId as string);
    if (!run) return undefined;
    // One that was taken out of the row of the run belongs to somebody else, and its result must not settle the call.
    if (!ends.every(({ item }) => run.pending.some(({ token }) => token === item.step.token))) {
      this.cache.put(run, run.item.fence);
      return undefined;
    }
    const results: StoredEvent[] = [];
    for (const { item, task } of ends) results.push(eventOf(run.item.id, item.step.call, task));
    const outcome = this.turn(run, results);
    return outcome instanceof Promise ? outcome.then((last) => this.endSteps(last, ends)) : this.endSteps(outcome, ends);
  }

  private inMemory(runId: string): CachedRun | undefined {
    const run = this.cache.take(runId);
    // A group wakes its run when it can move, not for every member.
    if (!run || (!run.grouped && run.signals.length <= MOST_KNOWN_SIGNALS)) return run;
    this.cache.put(run, run.item.fence);
    return undefined;
  }

  private async fuse(run: CachedRun, item: HeldItem, task: TaskCommit, { call }: ParentCall): Promise<TurnOutcome | undefined> {
    const outcome = await this.turn(run, [eventOf(run.item.id, call, task)]);
    // A step that its own turn drops must be written first: that takes two commits.
    return outcome?.commit.oldSteps.includes(item.parentCall as number) ? undefined : outcome;
  }

  // Usually nothing is waited for: then there is no promise.
  private turn(run: CachedRun, results: readonly StoredEvent[]): TurnOutcome | undefined | Promise<TurnOutcome | undefined> {
    const { item, signals } = run;
    item.claimedAtMonotonic = this.parts.runtime.monotonicNow();
    item.claimedAt = this.clock.now();
    try {
      const outcome = this.runner.run(item, { cached: run }, signals.length > 0 ? [...signals, ...results] : results, FUSED);
      if (!(outcome instanceof Promise)) return this.fused(run, outcome);
      return outcome.then(
        (last) => this.fused(run, last),
        (error) => (error instanceof TurnGivenUpError ? undefined : this.problem(item, error)),
      );
    } catch (error) {
      return this.problem(item, error);
    }
  }

  private fused({ item, takesSignals, signals }: CachedRun, outcome: TurnOutcome): TurnOutcome | undefined {
    const { commit } = outcome;
    // A failing turn needs its events stored: that takes two commits.
    if (commit.status === 'failed') return undefined;
    // Events that are stored in the database come before a result that is not written yet: the commit is refused if there are any.
    commit.unread = { takesSignals, signals: signals.length === 0 ? NO_SIGNALS : signals.map(({ seq }) => seq) };
    outcome.run = item;
    return outcome;
  }

  private problem({ id }: HeldItem, error: unknown): undefined {
    this.parts.events.emit({ type: 'problem', where: `turn of ${id}`, error });
  }

  // The steps leave the row of their run, and their results are written with the turn, unless the run does not keep them.
  private endSteps(outcome: TurnOutcome | undefined, ends: readonly StepEnd[]): TurnOutcome | undefined {
    if (!outcome) return undefined;
    const { commit, keep, run } = outcome;
    // When the turn began.
    const finishedAt = run?.claimedAt ?? this.clock.now();
    const keepsNone = this.parts.options.maxSteps === 0;
    const isOld = (call: number) => keepsNone || commit.oldSteps.includes(call);
    const hasEnded = (call: number) => ends.some(({ item }) => item.step.call === call);
    // A turn that fails is not fused, and every other one counts.
    const turn = commit.turn as number;
    const kept: EndedStep[] = [];
    for (const { item, task } of ends) if (!isOld(item.step.call)) kept.push(endedStep(item, task, turn, finishedAt));
    commit.endedSteps = kept;
    // One that its own turn cancels has ended before.
    if (commit.cancelledSteps.length > 0) commit.cancelledSteps = commit.cancelledSteps.filter(({ call }) => !hasEnded(call));
    if (commit.oldSteps.length > 0) commit.oldSteps = commit.oldSteps.filter((call) => !hasEnded(call));
    const left = (outcome.pending ?? []).filter(({ call }) => !hasEnded(call));
    if (keep) keep.pending = left;
    commit.pending = pendingText(left);
    outcome.steps = ends.map(({ item }) => item);
    return outcome;
  }
}

function eventOf(runId: string, call: number, { status, output, error }: TaskCommit): StoredEvent {
  const kind = status === 'completed' ? 'completed' : 'failed';
  return { executionId: runId, seq: IN_MEMORY, kind, call, name: null, payload: (kind === 'completed' ? output : error) ?? null };
}

function endedStep({ step }: StepItem, { output }: TaskCommit, consumedTurn: number, finishedAt: number): EndedStep {
  const { call, turn: startedTurn, name, input, startedAt, queue, priority, options } = step;
  const isUsual = options === undefined && priority === undefined && queue === 'default';
  const unusual = isUsual ? undefined : JSON.stringify({ queue, priority, options });
  return { call, startedTurn, consumedTurn, name, input, output, startedAt, finishedAt, unusual };
}
