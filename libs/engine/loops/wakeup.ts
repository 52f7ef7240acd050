// The wait between two passes of a loop: it ends when it is triggered, at a time that was set, or after the poll interval.

import type { Runtime, Timer } from '../runtime.js';

/** Wakes one loop. Created before the loop, so that other parts can be given the wakeup instead of the loop. */
export class Wakeup {
  private wake: (() => void) | undefined;
  private triggered = false;
  private timer: Timer | undefined;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(protected readonly runtime: Runtime) {}

  /** Ends the present wait, or the next one at once. */
  trigger(): void {
    this.triggered = true;
    this.wake?.();
  }

  /** Triggers after this many milliseconds, unless it is set to trigger earlier already. */
  triggerWithin(ms: number): void {
    const at = this.runtime.monotonicNow() + Math.max(0, ms);
    if (at >= this.timerAt) return;
    this.timerAt = at;
    this.setTimer();
  }

  /** Waits until it is triggered, at most this long. */
  async wait(ms: number): Promise<void> {
    if (!this.triggered) {
      let timer: Timer | undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        timer = this.runtime.setTimer(ms, resolve);
      });
      timer?.cancel();
      this.wake = undefined;
    }
    this.triggered = false;
  }

  /** Cancels the trigger that is set for later. */
  clear(): void {
    this.timer?.cancel();
    this.timerAt = Number.POSITIVE_INFINITY;
  }

  private setTimer(): void {
    this.timer?.cancel();
    this.timer = this.runtime.setTimer(Math.ceil(this.timerAt - this.runtime.monotonicNow()), () => {
      // A time further ahead than a timer can be set, or a timer that fired early.
      if (this.timerAt - this.runtime.monotonicNow() > 0.5) return this.setTimer();
      this.timerAt = Number.POSITIVE_INFINITY;
      this.trigger();
    });
  }
}
