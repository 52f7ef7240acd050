// The ways to release claimed work without a result: end it, give it back, put it off, or leave it to workers that have the task.

import { dropLateEvents, giveBackItems, moveToLanes, noWorkerHas, type PutOff, putOffCrashed, putOffItems } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import { nothingToWrite } from '../commit/finished-work.js';
import type { WorkerParts } from '../engine-options.js';
import type { Wakeups } from '../loops/wakeups.js';
import { sleep } from '../runtime.js';
import type { HeldItem, HeldWork } from './held-work.js';

const RETRY_MS = 200;

export class GiveBack {
  /** Executions whose late events could not be deleted yet. */
  private late: string[] = [];

  constructor(
    private readonly parts: WorkerParts,
    private readonly wakeups: Wakeups,
    private readonly held: HeldWork,
    private readonly committer: Committer,
    /** Aborted when no new work is taken. */
    private readonly closing: AbortSignal,
    /** Aborted when nothing is written any more. */
    private readonly closed: AbortSignal,
  ) {}

  /** Ends an item for which nothing is to be written. */
  async end(item: HeldItem): Promise<void> {
    await this.committer.submit(nothingToWrite(item));
  }

  /** Gives items back, runnable at once. */
  async now(items: readonly HeldItem[]): Promise<void> {
    const { store, workerId, runtime } = this.parts;
    await this.release(items, (claims) => giveBackItems(store.db, workerId, items, claims, runtime.newFence()));
    this.wakeups.claims.trigger();
  }

  /** Gives items back, runnable after this many milliseconds. Returns what was put off. */
  async later(items: readonly HeldItem[], afterMs: number): Promise<PutOff[]> {
    const { store, workerId, runtime } = this.parts;
    const putOff = await this.release(items, (claims) => putOffItems(store.db, workerId, items, claims, afterMs, runtime.newFence()));
    this.wakeups.timers.scheduled(afterMs);
    return putOff ?? [];
  }

  /** Gives back a run of which a turn crashed, runnable after this many milliseconds. */
  async crashed(item: HeldItem, note: string, afterMs: number): Promise<void> {
    const { store, workerId, runtime } = this.parts;
    const fence = runtime.newFence();
    await this.release([item], (claims) => putOffCrashed(store.db, workerId, item, claims, afterMs, note, fence));
    this.wakeups.timers.triggerWithin(afterMs);
  }

  /** Leaves tasks that this worker does not have to workers that do: no attempt is counted, and they keep their place in the queue. */
  async toLanes(items: readonly HeldItem[]): Promise<void> {
    const { store, workerId, tasks, runtime } = this.parts;
    const names = new Set(items.map((item) => item.name));
    const notes = new Map([...names].map((name) => [name, noWorkerHas(name) + tasks.suggest(name)]));
    const noted = items.map(({ id, bucket, fence, seq, name }) => ({ id, bucket, fence, seq, note: notes.get(name) as string }));
    await this.release(items, (claims) => moveToLanes(store.db, workerId, noted, claims, runtime.newFence()));
    for (const name of names) store.hints.hint('lane', name);
  }

  /**
   * Deletes events of executions that will not read them. Tried until it is done: the wakes that led here are gone, and nothing else
   * looks at these events before the execution itself is removed.
   */
  async dropLateEvents(ids: readonly string[]): Promise<void> {
    const { store, runtime, events } = this.parts;
    const late = [...this.late, ...ids];
    this.late = [];
    try {
      await dropLateEvents(store.db, late);
    } catch (error) {
      events.emit({ type: 'problem', where: 'late events', error });
      if (this.late.length === 0 && !this.closing.aborted) runtime.setTimer(RETRY_MS, () => void this.dropLateEvents([]));
      this.late.push(...late);
    }
  }

  // Tried until it is done: what is neither held nor given back would wait forever. Undefined when this worker ended before.
  private async release<T>(items: readonly HeldItem[], write: (claims: readonly string[]) => Promise<T>): Promise<T | undefined> {
    const { events, runtime } = this.parts;
    const ending = this.held.begin(items);
    while (!this.closed.aborted) {
      try {
        const written = await write(ending.claims);
        this.held.finish(ending);
        this.committer.deleteSpentClaims();
        return written;
      } catch (error) {
        events.emit({ type: 'problem', where: 'give back', error });
        await sleep(runtime, RETRY_MS);
      }
    }
    return undefined;
  }
}
