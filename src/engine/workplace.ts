// What the lanes of one worker share: its id, its clock, what it holds, and the ways to let go of it.

import {
  ANY,
  dropLateEvents,
  giveBackItems,
  moveToLanes,
  noteExecution,
  noWorkerHas,
  type PutOff,
  putOffItems,
} from '../../libs/store/index.js';
import { didYouMean } from '../nearest.js';
import type { ClaimLoop } from './claim-loop.js';
import type { Committer, FinishedWork } from './committer.js';
import type { EngineEvents } from './engine-events.js';
import type { EngineLogger, EngineOptions, EngineParts } from './engine-options.js';
import type { Heart } from './heart.js';
import { type HeldItem, HeldWork, type StopReason } from './held-work.js';
import type { TimerLoop } from './timer-loop.js';
import { VmCache } from './vm-cache.js';

export interface WorkerParts extends EngineParts {
  options: EngineOptions;
  events: EngineEvents;
  logger: EngineLogger;
  random: () => number;
  /** This life is over: the worker was declared dead. */
  died(): void;
}

/** The loops of a worker; they are started and stopped by the worker itself. */
export interface WorkerLoops {
  committer: Committer;
  claims: ClaimLoop;
  heart: Heart;
  timers: TimerLoop;
}

const RELEASE_RETRY_MS = 200;
const CLOCK_SET_MS = 1_000;
// A person may repair in the meantime what keeps an end from being written; more often would only fill the log.
const UNWRITABLE_MS = 60_000;

export class Workplace {
  readonly held = new HeldWork();
  readonly cache: VmCache;
  /** Tasks that are being run. */
  running = 0;
  /** Executions that are looked at: their events are read, their turns are run. */
  looking = 0;
  /** Executions that may run here in a moment: claimed and not decided on yet, or born with a commit that is being written. */
  reserved = 0;
  /** No new work is taken. */
  closing = false;
  /** Nothing is written any more. */
  closed = false;
  loops!: WorkerLoops;
  /** Executions whose late events could not be dropped yet. */
  private late: string[] = [];
  private clockOffset = Number.NEGATIVE_INFINITY;

  constructor(
    readonly id: string,
    readonly parts: WorkerParts,
  ) {
    this.cache = new VmCache(parts.options.cachedRuns, parts.options.cacheBytes);
  }

  /** How many more executions may be taken now. */
  room(): number {
    const { concurrency, claimBatch } = this.parts.options;
    // What waits to be written holds no slot, but must not pile up either.
    if (this.loops.committer.backlog > claimBatch * 4) return 0;
    // Turns are short, and no tasks: each kind has its own bound.
    return Math.min(this.taskRoom(), concurrency - this.looking);
  }

  /** How many more tasks may be run here, beside those that run, will run, and may come with a claim that is on its way. */
  taskRoom(): number {
    return this.parts.options.concurrency - this.running - this.reserved - this.loops.claims.asked;
  }

  /** The database's clock as this worker knows it, in milliseconds. */
  now(): number {
    return performance.now() + this.clockOffset;
  }

  /**
   * Reads the clock off a claim. A reply takes a moment, so the highest reading is the nearest; a reading that is far off
   * means that the clock itself was set. The items are dated by it, so that time does not go back within a run.
   */
  readClock(items: readonly HeldItem[]): void {
    const [{ claimedAt, claimedAtMonotonic }] = items;
    const offset = claimedAt - claimedAtMonotonic;
    if (offset > this.clockOffset || this.clockOffset - offset > CLOCK_SET_MS) this.clockOffset = offset;
    for (const item of items) item.claimedAt = item.claimedAtMonotonic + this.clockOffset;
  }

  /** Stops whatever runs for an execution that is no longer ours; with a fence, only what was claimed at it. */
  lose(executionId: string, reason: StopReason, fence?: number): void {
    if (executionId === ANY) return;
    // It may have been claimed again since the loss was seen.
    for (const item of this.held.of(executionId)) if (fence === undefined || item.fence === fence) item.stop?.(reason);
    this.cache.drop(executionId);
  }

  /** Ends an item for which nothing is to be written. */
  async finish(item: HeldItem): Promise<void> {
    await this.loops.committer.submit(nothing(item));
  }

  /**
   * Gives items back, runnable at once or after a while. Tried until it is done: what is neither held nor given back would wait for
   * ever. Returns what was put off.
   */
  async release(items: readonly HeldItem[], afterMs = 0): Promise<PutOff[]> {
    const { db } = this.parts.store;
    let putOff: PutOff[] = [];
    await this.letGo(items, async (claims) => {
      if (afterMs > 0) {
        putOff = await putOffItems(db, this.id, items, claims, afterMs);
        this.loops.timers.dueIn(afterMs);
      } else {
        await giveBackItems(db, this.id, items, claims);
        this.loops.claims.nudge();
      }
    });
    return putOff;
  }

  /** Leaves tasks that this worker does not have to those that do: no attempt is counted, and they keep their place. */
  async passOn(items: readonly HeldItem[]): Promise<void> {
    const { store, tasks } = this.parts;
    const names = new Set(items.map((item) => item.name));
    const notes = new Map([...names].map((name) => [name, noWorkerHas(name) + didYouMean(name, tasks.names())]));
    const noted = items.map(({ id, bucket, fence, seq, name }) => ({ id, bucket, fence, seq, note: notes.get(name) as string }));
    await this.letGo(items, (claims) => moveToLanes(store.db, this.id, noted, claims));
    for (const name of names) store.hints.hint('lane', name);
  }

  private async letGo(items: readonly HeldItem[], write: (claims: readonly string[]) => Promise<void>): Promise<void> {
    const ending = this.held.begin(items);
    while (!this.closed) {
      try {
        await write(ending.claims);
        this.held.finish(ending);
        return this.loops.committer.tidy();
      } catch (error) {
        this.trouble('give back', error);
        await new Promise((resolve) => setTimeout(resolve, RELEASE_RETRY_MS));
      }
    }
  }

  /**
   * Deletes what came for executions that will not take it. Tried until it is done: the wakes that led here are gone, and nobody
   * else looks before the execution itself is removed.
   */
  async dropLate(ids: readonly string[]): Promise<void> {
    const late = [...this.late, ...ids];
    this.late = [];
    try {
      await dropLateEvents(this.parts.store.db, late);
    } catch (error) {
      this.trouble('late events', error);
      if (this.late.length === 0 && !this.closing) setTimeout(() => void this.dropLate([]), RELEASE_RETRY_MS);
      this.late.push(...late);
    }
  }

  /**
   * For an item of which not even the failure can be written. Its claim must not simply end, or the run would be in nobody's
   * hands: it is put off first, and tried again.
   */
  async unwritable(item: HeldItem): Promise<FinishedWork> {
    await this.release([item], UNWRITABLE_MS);
    return nothing(item);
  }

  /** The database does not take what an execution came to: said in the log and on the execution, while it is tried again. */
  async noteRefused({ items }: FinishedWork, error: unknown): Promise<void> {
    const [item] = items;
    this.trouble(`commit of ${item.id}, which is tried by itself`, error);
    const { code, message } = error as { code?: string; message?: string };
    const note = `The database does not take what this execution came to: ${message} (${code ?? 'no answer'}). It is tried again until it does.`;
    await noteExecution(this.parts.store.db, item, note).catch((failure) => this.trouble(`note on ${item.id}`, failure));
  }

  /** Work came to these queues: ours are looked at, the workers of others are told. */
  wake(queues: Iterable<string>): void {
    const served = new Set(this.parts.options.queues);
    let any = false;
    for (const queue of queues) {
      any = true;
      if (!served.has(queue)) this.parts.store.hints.hint('work', queue);
    }
    if (any) this.loops.claims.nudge();
  }

  trouble(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'trouble', where, error });
  }
}

/** Finished work that changes nothing; its claim ends with it. */
export function nothing(item: HeldItem): FinishedWork {
  return { items: [item], refused: () => nothing(item) };
}
