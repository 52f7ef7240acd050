// Keeps executions that kill their workers from taking other executions down with them.

import { bringForward, type PutOff } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import { failedWork } from '../commit/finished-work.js';
import type { WorkerParts } from '../engine-options.js';
import { factsOf } from '../execution-facts.js';
import type { Wakeups } from '../loops/wakeups.js';
import type { GiveBack } from './give-back.js';
import type { HeldItem } from './held-work.js';

// A suspicious execution that may not be held now can be claimed again after this, by any worker; this worker brings it forward as
// soon as the one before it has ended.
const WAIT_MS = 2_000;
const SUSPICIOUS_CRASHES = 2;
// How long a run waits after the process of its turn was ended, the first time and at most.
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * An execution that has crashed its workers may crash this one: at most one such is held at a time. The others are put off in the
 * database, not kept here: whatever a worker holds when it dies is counted as having crashed it.
 */
export class PoisonGuard {
  private suspicious: string | undefined;
  /** Suspicious ones that this worker has put off. */
  private readonly waiting = new Map<string, PutOff>();

  constructor(
    private readonly parts: WorkerParts,
    private readonly wakeups: Wakeups,
    private readonly committer: Committer,
    private readonly giveBack: GiveBack,
    /** Aborted when no new work is taken. */
    private readonly closing: AbortSignal,
  ) {}

  /** Returns those that may run. The others are put off, or failed if they have crashed too many workers. */
  async admit(items: HeldItem[]): Promise<HeldItem[]> {
    if (!items.some((item) => item.crashes >= SUSPICIOUS_CRASHES)) return items;
    const admitted: HeldItem[] = [];
    const later: HeldItem[] = [];
    for (const item of items) {
      if (item.crashes > this.parts.options.maxCrashes) void this.quarantine(item, item.crashes);
      // To read the events of a task runs nothing of it, and its cancel must not wait for another suspicious execution.
      else if (item.crashes < SUSPICIOUS_CRASHES || (item.type === 'task' && (!item.run || item.readEventsFirst))) admitted.push(item);
      else if (this.suspicious === undefined) {
        this.suspicious = item.id;
        admitted.push(item);
      } else later.push(item);
    }
    // Before anything of this claim runs: that may end the process.
    if (later.length > 0) for (const one of await this.giveBack.later(later, WAIT_MS)) this.waiting.set(one.id, one);
    return admitted;
  }

  /** The execution ended, and this worker is alive: the next suspicious one may be claimed at once. */
  settle(item: HeldItem): void {
    if (this.suspicious !== item.id) return;
    this.suspicious = undefined;
    if (this.waiting.size > 0) void this.bringNextForward();
  }

  /**
   * The process that ran a turn of it was ended, and this worker goes on: it waits longer after each such crash, because a slow machine
   * must not fail a healthy run, and is quarantined after too many of them.
   */
  async crashed(item: HeldItem, why: Error): Promise<void> {
    const crashes = item.crashes + 1;
    if (crashes > this.parts.options.maxCrashes) return this.quarantine(item, crashes, why);
    await this.giveBack.crashed(item, why.message, Math.min(FIRST_PAUSE_MS * 2 ** item.crashes, LONGEST_PAUSE_MS));
  }

  private async bringNextForward(): Promise<void> {
    const { store, events } = this.parts;
    try {
      for (const [id, one] of this.waiting) {
        if (this.suspicious !== undefined || this.closing.aborted) return;
        this.waiting.delete(id);
        if (await bringForward(store.db, one)) return this.wakeups.timers.trigger();
      }
    } catch (error) {
      events.emit({ type: 'problem', where: 'next suspicious execution', error });
    }
  }

  // `why`: the last crash was that of a process that ran a turn of it.
  private async quarantine(item: HeldItem, crashes: number, why?: Error): Promise<void> {
    const { options, events } = this.parts;
    const limit = `(worker.maxCrashes is ${options.maxCrashes})`;
    const message = why
      ? `Quarantined: what ran it ended ${crashes} times in a row ${limit}. The last time: ${why.message} Then retry it.`
      : `Quarantined: ${crashes} workers in a row died while they held it ${limit}. Look for what ends the process (memory, native code, process.exit), then retry it.`;
    const error = Object.assign(new Error(message), { name: 'QuarantinedError', code: 'RHYTHM_QUARANTINED', stack: undefined });
    const { task, turn } = await this.committer.submit(failedWork(item, error));
    if (task || turn) events.emit({ type: 'quarantined', ...factsOf(item), crashes });
  }
}
