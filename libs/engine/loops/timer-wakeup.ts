// The wakeup of the timer loop: it is set for what this worker schedules itself, unless the leader sees that in time.

import type { Runtime } from '../runtime.js';
import { Wakeup } from './wakeup.js';

/** Knows until when something is due that this worker has scheduled itself and the leader may not have seen. */
export class TimerWakeup extends Wakeup {
  private ownUntil = Number.NEGATIVE_INFINITY;

  constructor(
    runtime: Runtime,
    /** What is due later than this has been seen by the leader before, whose polls are more frequent. */
    private readonly soonMs: number,
  ) {
    super(runtime);
  }

  /** This worker has scheduled something that is due after so many milliseconds. */
  scheduled(ms: number): void {
    if (ms > this.soonMs) return;
    this.ownUntil = Math.max(this.ownUntil, this.runtime.monotonicNow() + ms);
    this.triggerWithin(ms);
  }

  /** Whether what is due after so many milliseconds may have been scheduled by this worker. */
  isOwn(ms: number): boolean {
    return this.runtime.monotonicNow() + ms <= this.ownUntil + ROUNDING_MS;
  }
}

// The database dates a timer when it is written, and so a little later than the worker expects when it is told.
const ROUNDING_MS = 100;
