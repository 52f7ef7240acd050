// Runs claimed tasks and writes their results. A parent whose VM is in memory moves in the same commit.

import { markStarted, type TaskCommit } from '../../store/index.js';
import type { Announcer } from '../commit/announcer.js';
import type { Committer } from '../commit/committer.js';
import type { WorkerParts } from '../engine-options.js';
import { factsOf } from '../execution-facts.js';
import type { FusedStep } from '../turns/fused-step.js';
import { StepEnds } from '../turns/step-ends.js';
import type { StepRows } from '../turns/step-rows.js';
import { isStep } from '../turns/steps-in-place.js';
import type { TurnOutcome } from '../turns/turn-outcome.js';
import type { TurnWriter } from '../turns/turn-writer.js';
import { UNREACHABLE_RETRY_MS, type UnreachableError } from '../unreachable.js';
import type { GiveBack } from '../work/give-back.js';
import type { HeldItem, HeldWork } from '../work/held-work.js';
import type { PoisonGuard } from '../work/poison-guard.js';
import type { Slots } from '../work/slots.js';
import type { RunnableTask } from './runnable-task.js';
import { type AttemptOutcome, TaskRunner } from './task-runner.js';

// More than run here at one time; older counts may start again.
const MOST_COUNTED = 10_000;

export class TaskLane {
  private readonly runner: TaskRunner;
  /** How often in a row each task lost its connection to the database while it ran here. */
  private readonly lostConnections = new Map<string, number>();

  constructor(
    private readonly parts: WorkerParts,
    private readonly slots: Slots,
    private readonly held: HeldWork,
    private readonly committer: Committer,
    private readonly announcer: Announcer,
    private readonly giveBack: GiveBack,
    private readonly guard: PoisonGuard,
    private readonly fusedStep: FusedStep,
    private readonly turnWriter: TurnWriter,
    private readonly stepEnds: StepEnds,
    private readonly stepRows: StepRows,
  ) {
    this.runner = new TaskRunner(parts, stepRows);
  }

  /** Runs the tasks that this worker has, and leaves the others to workers that have them. */
  run(items: readonly HeldItem[]): void {
    let unknown: HeldItem[] | undefined;
    for (const item of items) {
      const task = this.parts.tasks.get(item.name);
      if (task) this.perform(item, task);
      else {
        unknown ??= [];
        unknown.push(item);
      }
    }
    if (unknown) void this.passOn(unknown);
  }

  /** Runs tasks that this worker claimed in the commit that made them; each has a reserved slot. */
  runClaimedAtOnce(items: readonly HeldItem[]): void {
    if (items.length === 0) return;
    this.run(items);
    this.slots.release('reserved', items.length);
  }

  private async passOn(items: readonly HeldItem[]): Promise<void> {
    for (const item of items) this.guard.settle(item);
    await this.giveBack.toLanes(items);
    this.slots.roomFreed();
  }

  // An attempt of a task that this worker has. No function on the way of a task that returns at once is async: promises and
  // frames were a quarter of the garbage of a task.
  private perform(item: HeldItem, task: RunnableTask): void {
    this.slots.acquire('task');
    if (item.options?.startTimeoutMs !== undefined && item.attempts === 0) void this.performMarked(item, task);
    else this.attempt(item, task);
  }

  private async performMarked(item: HeldItem, task: RunnableTask): Promise<void> {
    if (await this.begin(item)) return this.attempt(item, task);
    this.guard.settle(item);
    this.slots.release('task');
  }

  private attempt(item: HeldItem, task: RunnableTask): void {
    const { events } = this.parts;
    if (events.hasListeners('started')) events.emit({ type: 'started', ...factsOf(item), attempt: item.attempts + 1 });
    const outcome = this.runner.run(item, task);
    if (outcome instanceof Promise) void outcome.then((last) => this.ended(item, last));
    else this.ended(item, outcome);
  }

  private ended(item: HeldItem, outcome: AttemptOutcome): void {
    // The next step of the run may have the slot.
    const keepsSlot = isStep(item) && 'commit' in outcome && StepEnds.isPlain(outcome.commit);
    if (keepsSlot) this.slots.acquire('reserved');
    this.slots.release('task');
    this.guard.settle(item);
    if (item.dropped || !this.held.has(item)) return keepsSlot ? this.slots.release('reserved') : undefined;
    const unreachable = 'commit' in outcome && outcome.unreachable;
    if (unreachable && this.mayBeOutage(item, unreachable)) return void this.giveBack.later([item], UNREACHABLE_RETRY_MS);
    if (this.lostConnections.size > 0) this.lostConnections.delete(item.id);
    if ('written' in outcome) {
      this.announcer.taskEnded(item, 'completed');
      return void this.giveBack.end(item);
    }
    if ('commit' in outcome) return this.write(item, outcome.commit);
    if (outcome.stopped === 'lost' || outcome.stopped === 'cancelled') void this.giveBackStopped(item);
  }

  private async giveBackStopped(item: HeldItem): Promise<void> {
    if (isStep(item)) await this.stepRows.giveBackOne(item);
    // Not a step, or one that has a row by now.
    if (this.held.has(item)) await this.giveBack.now([item]);
  }

  // A task with a start timeout is marked as started before it runs: from then on the timer cannot end it as
  // one that never ran. Only such tasks need this write, and only before the first attempt.
  private async begin(item: HeldItem): Promise<boolean> {
    const { store, events } = this.parts;
    try {
      if (await markStarted(store.db, item)) return true;
      await this.giveBack.end(item);
    } catch (error) {
      events.emit({ type: 'problem', where: 'mark as started', error });
      await this.giveBack.now([item]);
    }
    return false;
  }

  // An outage of the database is not the fault of a transactional task: nothing took effect, and no attempt is counted. But a task
  // may also be the reason why its connection is lost, again and again; then its attempts count like any others.
  private mayBeOutage(item: HeldItem, error: UnreachableError): boolean {
    const { lostConnections, parts } = this;
    parts.events.emit({ type: 'problem', where: `task ${item.name} ${item.id}`, error });
    if (!error.began) return true;
    const times = (lostConnections.get(item.id) ?? 0) + 1;
    if (times > parts.options.maxCrashes) return false;
    lostConnections.set(item.id, times);
    for (const id of lostConnections.keys()) if (lostConnections.size > MOST_COUNTED) lostConnections.delete(id);
    return true;
  }

  // The end of an attempt. That of a step in place is written with the turn that consumes it, or once the step has a row.
  private write(item: HeldItem, task: TaskCommit): void {
    // It may have got its row, and a fence, since the end of the attempt.
    if (!isStep(item)) return this.writeRow(item, task.fence === item.fence ? task : { ...task, fence: item.fence });
    this.stepEnds.settle(item, task, (hasRow, toRun) => {
      this.runClaimedAtOnce(toRun);
      if (hasRow) this.writeRow(item, { ...task, fence: item.fence });
    });
  }

  // Together with the turn of its parent if that can be run here.
  private writeRow(item: HeldItem, task: TaskCommit): void {
    const fused = this.fusedStep.run(item, task);
    if (fused) void this.writeFused(item, task, fused);
    else this.committer.add({ items: [item], task });
  }

  private async writeFused(item: HeldItem, task: TaskCommit, fusing: Promise<TurnOutcome | undefined>): Promise<void> {
    const fused = await fusing;
    if (fused) this.runClaimedAtOnce((await this.turnWriter.write([item], fused, task)).toRun);
    else this.committer.add({ items: [item], task });
  }
}
