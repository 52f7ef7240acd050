// The wait between two passes of a loop: it ends when somebody rings, when the set time has come, or after the poll interval.

import type { Runtime, Timer } from '../runtime.js';

/** Wakes one loop. Created before the loop, so that whoever must wake it can be given the bell instead of the loop. */
export class Doorbell {
  private wake: (() => void) | undefined;
  private rung = false;
  private alarm: Timer | undefined;
  private alarmAt = Number.POSITIVE_INFINITY;

  constructor(private readonly runtime: Runtime) {}

  /** Ends the present wait, or the next one at once. */
  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Rings after this many milliseconds, unless it is set to ring earlier already. */
  ringWithin(ms: number): void {
    const at = this.runtime.monotonicNow() + Math.max(0, ms);
    if (at >= this.alarmAt) return;
    this.alarmAt = at;
    this.setAlarm();
  }

  /** Waits for a ring, at most this long. */
  async wait(ms: number): Promise<void> {
    if (!this.rung) {
      let timer: Timer | undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        timer = this.runtime.setTimer(ms, resolve);
      });
      timer?.cancel();
      this.wake = undefined;
    }
    this.rung = false;
  }

  /** Cancels the ring that is set for later. */
  clear(): void {
    this.alarm?.cancel();
    this.alarmAt = Number.POSITIVE_INFINITY;
  }

  private setAlarm(): void {
    this.alarm?.cancel();
    this.alarm = this.runtime.setTimer(Math.ceil(this.alarmAt - this.runtime.monotonicNow()), () => {
      // A time further ahead than a timer can be set, or a timer that fired early.
      if (this.alarmAt - this.runtime.monotonicNow() > 0.5) return this.setAlarm();
      this.alarmAt = Number.POSITIVE_INFINITY;
      this.ring();
    });
  }
}
