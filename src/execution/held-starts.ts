// Starts with ids that other open transactions are starting: each waits apart, so that no start of another id waits with it.

import { insertExecutions, isLockTimeout, type Runner, retrying } from '../../libs/store/index.js';
import type { WaitingStart } from './start-batcher.js';

// Connections of the pool that may wait at one time: the same number as statements of the batcher.
const IN_FLIGHT = 2;
// A round of all held ids takes about this long, however many they are, so each learns soon that it is free.
const ROUND_MS = 1_000;
const LEAST_MS = 10;

/** Tries held starts in turn. One that is tried waits in the database, and so learns at once that the other transaction has ended. */
export class HeldStarts {
  /** In the order in which they are tried. */
  private readonly ids: string[] = [];
  private readonly starts = new Map<string, WaitingStart[]>();
  private inFlight = 0;

  constructor(private readonly db: Runner) {}

  /** Whether a start with this id waits here. */
  has(id: string): boolean {
    return this.starts.has(id);
  }

  add(start: WaitingStart): void {
    const { id } = start.execution;
    const others = this.starts.get(id);
    if (others) {
      others.push(start);
      return;
    }
    this.starts.set(id, [start]);
    this.ids.push(id);
    this.tryNext();
  }

  private tryNext(): void {
    while (this.inFlight < IN_FLIGHT) {
      const id = this.ids.shift();
      if (id === undefined) return;
      this.inFlight++;
      void this.tryOne(id).finally(() => {
        this.inFlight--;
        this.tryNext();
      });
    }
  }

  private async tryOne(id: string): Promise<void> {
    const starts = this.starts.get(id) as WaitingStart[];
    const [{ execution, resolve, reject }] = starts as [WaitingStart, ...WaitingStart[]];
    const patienceMs = Math.max(LEAST_MS, Math.floor(ROUND_MS / Math.ceil(this.starts.size / IN_FLIGHT)));
    try {
      const [outcome] = await retrying(() => insertExecutions(this.db, [execution], { patienceMs }));
      resolve(outcome!);
      starts.shift();
    } catch (error) {
      if (!isLockTimeout(error)) {
        reject(error);
        starts.shift();
      }
    }
    if (starts.length > 0) this.ids.push(id);
    else this.starts.delete(id);
  }
}
