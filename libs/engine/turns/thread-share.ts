// How long turns may run before the event loop goes round: many that are almost a slice long would hold it together.

import { nextTick, type Runtime } from '../runtime.js';

// A few slices. A worker under full load runs turns for a third of its time, so it lets the loop go round sixty times a second for this.
const MOST_MS = 5;

export class ThreadShare {
  private spent = 0;
  private round: Promise<void> | undefined;

  constructor(private readonly runtime: Runtime) {}

  /** Undefined when a turn may begin now, which costs nothing. Otherwise resolves after the I/O that is due; then ask again. */
  wait(): Promise<void> | undefined {
    return this.round;
  }

  /** Counts what the first slice of a turn took. */
  count(ms: number): void {
    this.spent += ms;
    if (this.spent >= MOST_MS) this.round ??= this.nextRound();
  }

  private async nextRound(): Promise<void> {
    await nextTick(this.runtime);
    this.spent = 0;
    this.round = undefined;
  }
}
