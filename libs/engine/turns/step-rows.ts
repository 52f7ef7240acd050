// Gives steps in place rows of their own: those that need one midway, and those that this worker does not run to their end.

import {
  MOST_WAITING_ROWS,
  promoteSteps,
  type RunLetGo,
  type Runner,
  requeueSteps,
  requeueUnknownSteps,
  type StepOfRun,
  stepsStillThere,
} from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import type { WorkerParts } from '../engine-options.js';
import { factsOf } from '../execution-facts.js';
import type { Wakeups } from '../loops/wakeups.js';
import { sleep, type Timer } from '../runtime.js';
import type { HeldItem, HeldWork } from '../work/held-work.js';
import { type ChosenSteps, isStep, type StepItem, type StepsInPlace } from './steps-in-place.js';
import type { VmCache } from './vm-cache.js';

// A step that runs for longer than this gets a row: others see it, and a turn elsewhere cannot cut it off from its result.
const LONGEST_MS = 1_000;
const RETRY_MS = 200;
// Between two tries for steps of runs whose rows are locked, mostly by a commit.
const LOCKED_MS = 20;
const MOST_AT_ONCE = 500;

interface Waiting {
  item: StepItem;
  resolve(hasRow: boolean): void;
}

export class StepRows {
  private waiting: Waiting[] = [];
  private isWriting = false;
  /** The rows that are being written. */
  private writing: Promise<void> = Promise.resolve();
  /** Long steps whose rows have been asked for. */
  private readonly asked = new Set<StepItem>();
  private timer: Timer | undefined;

  constructor(
    private readonly parts: WorkerParts,
    private readonly wakeups: Wakeups,
    private readonly held: HeldWork,
    private readonly cache: VmCache,
    private readonly committer: Committer,
    private readonly steps: StepsInPlace,
    /** Aborted when nothing is written any more. */
    private readonly closed: AbortSignal,
  ) {}

  start(): void {
    this.timer = this.parts.runtime.setTimer(LONGEST_MS / 2, () => this.sweep(), true);
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** Gives a step a row that this worker has claimed. Returns false when the step is no longer its own; then its result is dropped. */
  async promote(item: HeldItem): Promise<boolean> {
    if (!isStep(item) || !this.held.has(item)) return !item.dropped && this.held.has(item);
    const run = this.steps.runOf(item);
    const wait = run.lock();
    if (wait) await wait;
    try {
      return await this.promoteLocked(item);
    } finally {
      run.unlock();
    }
  }

  private promoteLocked(item: HeldItem): Promise<boolean> {
    // It may have got its row meanwhile, or have ended.
    if (!isStep(item) || item.dropped || !this.held.has(item)) return Promise.resolve(!item.dropped && this.held.has(item));
    return new Promise((resolve) => {
      this.waiting.push({ item, resolve });
      if (!this.isWriting) this.writing = this.writeWaiting();
    });
  }

  /** Gives steps back to the queue; they are not held any more. Those that get rows at this moment stay held. */
  async giveBack(items: readonly HeldItem[]): Promise<void> {
    if (!items.some(isStep)) return;
    // A step whose row is being written is given back like other tasks once it has it.
    await this.writing;
    await this.giveBackSteps(items.filter(isStep));
  }

  /** The same for one step. While its run is locked it does not get a row; the rows of others are not waited for. */
  async giveBackOne(item: StepItem): Promise<void> {
    const run = this.steps.runOf(item);
    const wait = run.lock();
    if (wait) await wait;
    try {
      await this.giveBackSteps([item].filter(isStep));
    } finally {
      run.unlock();
    }
  }

  private async giveBackSteps(steps: readonly StepItem[]): Promise<void> {
    if (await this.requeue(steps.map(stepOfRun))) for (const item of steps) if (isStep(item)) this.end(item);
  }

  /**
   * The commit that was to start these steps was lost. If its outcome is not certain it may have been written after all; then nobody
   * would run them, so they are queued.
   */
  async abandoned(run: Pick<HeldItem, 'id' | 'bucket'>, chosen: ChosenSteps, certain: boolean): Promise<void> {
    if (!certain) await this.requeue(chosen.items.map(({ step }) => ({ runId: run.id, bucket: run.bucket, token: step.token })));
    this.steps.abandoned(chosen);
    this.committer.deleteSpentClaims();
  }

  /** After a commit of unknown outcome the database may have steps of this worker that it does not have. Returns the queues of those. */
  async requeueUnknown(db: Runner): Promise<string[]> {
    const { workerId, runtime } = this.parts;
    const given = await requeueUnknownSteps(db, workerId, () => this.steps.tokens(), runtime.newFence());
    return given.map(({ queue }) => queue);
  }

  /** Nothing more is to be written for the step. */
  end(item: StepItem): void {
    this.steps.remove(item);
    this.held.remove(item);
    this.committer.deleteSpentClaims();
  }

  private sweep(): void {
    const { runtime } = this.parts;
    for (const item of this.steps.runningSince(runtime.monotonicNow() - LONGEST_MS)) if (!this.asked.has(item)) void this.promoteLong(item);
    if (!this.closed.aborted) this.start();
  }

  // Once: in an outage, or while the turn of its run cannot be written, it waits for long.
  private async promoteLong(item: StepItem): Promise<void> {
    this.asked.add(item);
    await this.promote(item);
    this.asked.delete(item);
  }

  // Many at once: whatever asks while a statement is in flight goes with the next one.
  private async writeWaiting(): Promise<void> {
    this.isWriting = true;
    const { runtime } = this.parts;
    while (this.waiting.length > 0 && !this.closed.aborted) {
      const batch = this.waiting.slice(0, MOST_AT_ONCE);
      const claimId = runtime.newId();
      this.held.expectClaim(claimId);
      try {
        const locked = await this.writeRows(batch, claimId);
        this.waiting = [...this.waiting.slice(batch.length), ...locked];
        if (locked.length > 0 && locked.length === this.waiting.length) await sleep(runtime, LOCKED_MS);
      } catch (error) {
        // If it was written, the heartbeat loop finds the claim and gives the steps back.
        this.held.forgetClaim(claimId);
        this.wakeups.heartbeats.trigger();
        this.problem('steps that need rows', error);
        await sleep(runtime, RETRY_MS);
      }
    }
    this.isWriting = false;
  }

  // Returns those whose run is locked.
  private async writeRows(batch: readonly Waiting[], claimId: string): Promise<Waiting[]> {
    const { store, workerId, runtime } = this.parts;
    const fence = runtime.newFence();
    const steps = batch.map(({ item }) => stepOfRun(item));
    const promoted = await promoteSteps(store.db, workerId, claimId, steps, fence, this.letGo(batch));
    const runFences = new Map(promoted.map(({ id, runFence }) => [id, runFence]));
    this.held.openClaim(claimId, promoted.length);
    const missing: Waiting[] = [];
    for (const each of batch) {
      const runFence = runFences.get(each.item.id);
      if (runFence === undefined) missing.push(each);
      else {
        this.promoted(each.item, claimId, fence, runFence);
        each.resolve(true);
      }
    }
    const locked = missing.length > 0 ? await this.lockedOf(missing) : missing;
    this.committer.deleteSpentClaims();
    return locked;
  }

  // The runs whose last steps here are among these, while they are in memory as they are stored.
  private letGo(batch: readonly Waiting[]): RunLetGo[] {
    const promoted = new Set(batch.map(({ item }) => item.step.token));
    const runs = new Map<string, RunLetGo>();
    for (const { item } of batch) {
      const id = item.parentId as string;
      const run = runs.has(id) ? undefined : this.cache.take(id);
      if (!run) continue;
      const { bucket, fence } = run.item;
      if (!run.pending.some(({ worker, token }) => worker === this.parts.workerId && !promoted.has(token)))
        runs.set(id, { id, bucket, fence, turn: run.turns, rows: run.flow.waitingPlaces(MOST_WAITING_ROWS) });
      this.cache.put(run, fence);
    }
    return [...runs.values()];
  }

  // The others are lost. Nothing is known of any of them while the database does not reply.
  private async lockedOf(missing: Waiting[]): Promise<Waiting[]> {
    const steps = missing.map(({ item }) => stepOfRun(item));
    const found = await stepsStillThere(this.parts.store.db, steps).catch((error) => this.problem('steps that need rows', error));
    if (!found) return missing;
    const isThere = ({ item }: Waiting) => found.some(({ runId, token }) => runId === item.parentId && token === item.step.token);
    for (const each of missing) {
      if (isThere(each)) continue;
      this.lost(each.item);
      each.resolve(false);
    }
    return missing.filter(isThere);
  }

  private promoted(item: StepItem, claimId: string, fence: number, runFence: number): void {
    const { step } = item;
    const run = this.cache.take(item.parentId as string, runFence);
    if (run) {
      run.pending = run.pending.filter(({ call }) => call !== step.call);
      run.hasWaiting = true;
      this.cache.put(run, fence);
    }
    this.steps.remove(item);
    this.held.move(item, claimId);
    item.fence = fence;
    (item as HeldItem).step = undefined;
  }

  private lost(item: StepItem): void {
    item.running?.stop('lost');
    item.dropped = true;
    this.end(item);
    const { events } = this.parts;
    if (events.hasListeners('lost')) events.emit({ type: 'lost', ...factsOf(item) });
  }

  // Tried until it is done. False when this worker ended before.
  private async requeue(steps: readonly StepOfRun[]): Promise<boolean> {
    if (steps.length === 0) return true;
    const { store, runtime } = this.parts;
    while (!this.closed.aborted) {
      try {
        const given = await requeueSteps(store.db, steps, runtime.newFence());
        if (given.length > 0) this.wakeups.claims.trigger();
        return true;
      } catch (error) {
        this.problem('give back', error);
        await sleep(runtime, RETRY_MS);
      }
    }
    return false;
  }

  private problem(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'problem', where, error });
  }
}

function stepOfRun({ parentId, bucket, step }: StepItem): StepOfRun {
  return { runId: parentId as string, bucket, token: step.token };
}
