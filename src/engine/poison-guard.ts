// Keeps executions that kill their workers from taking their neighbours with them.

import { bringForward, type PutOff } from '../../libs/store/index.js';
import type { HeldItem } from './held-work.js';
import type { Workplace } from './workplace.js';

// One that may not be held now is looked at again after this, by whatever worker; by this one as soon as the one before it has
// ended.
const WAIT_MS = 2_000;
const SUSPICIOUS_CRASHES = 2;

/**
 * An execution that has crashed its workers may crash this one: at most one such is held at a time. The others are put off in the
 * database, not kept here: whatever is held when a worker dies is counted as having crashed it.
 */
export class PoisonGuard {
  private suspicious: string | undefined;
  /** Suspicious ones that this worker has put off. */
  private readonly waiting = new Map<string, PutOff>();

  constructor(
    private readonly place: Workplace,
    /** Fails an execution that has crashed too many. */
    private readonly fail: (item: HeldItem, error: unknown) => void,
  ) {}

  /** What of a claim may be run. */
  async admit(items: HeldItem[]): Promise<HeldItem[]> {
    if (!items.some((item) => item.crashes >= SUSPICIOUS_CRASHES)) return items;
    const admitted: HeldItem[] = [];
    const later: HeldItem[] = [];
    for (const item of items) {
      if (item.crashes > this.place.parts.options.maxCrashes) this.quarantine(item);
      // To look at a task's orders runs nothing of it, and an order must not wait behind another's suspicion.
      else if (item.crashes < SUSPICIOUS_CRASHES || (item.type === 'task' && (!item.run || item.lookFirst))) admitted.push(item);
      else if (this.suspicious === undefined) {
        this.suspicious = item.id;
        admitted.push(item);
      } else later.push(item);
    }
    // Before anything of this claim runs: it may be the last thing that this process does.
    if (later.length > 0) for (const one of await this.place.release(later, WAIT_MS)) this.waiting.set(one.id, one);
    return admitted;
  }

  /** The execution did not kill us: the next one may come at once. */
  settle(item: HeldItem): void {
    if (this.suspicious !== item.id) return;
    this.suspicious = undefined;
    if (this.waiting.size > 0) void this.callNext();
  }

  private async callNext(): Promise<void> {
    const { place, waiting } = this;
    try {
      for (const [id, one] of waiting) {
        if (this.suspicious !== undefined || place.closing) return;
        waiting.delete(id);
        if (await bringForward(place.parts.store.db, one)) return place.loops.timers.dueIn(0);
      }
    } catch (error) {
      place.trouble('next of the suspicious', error);
    }
  }

  private quarantine(item: HeldItem): void {
    const { options, events } = this.place.parts;
    const error = Object.assign(
      new Error(
        `Quarantined: ${item.crashes} workers in a row died while they held it (worker.maxCrashes is ${options.maxCrashes}). ` +
          `Look for what ends the process (memory, native code, process.exit), then retry it.`,
      ),
      { name: 'QuarantinedError', code: 'RHYTHM_QUARANTINED', stack: undefined },
    );
    events.emit({ type: 'quarantined', executionId: item.id, name: item.name, crashes: item.crashes });
    this.fail(item, error);
  }
}
