// The wakeups of a worker's loops. A part that must wake a loop is given these, not the loop.

import type { Runtime } from '../runtime.js';
import { TimerWakeup } from './timer-wakeup.js';
import { Wakeup } from './wakeup.js';

// What is due later than so many polls from now is seen by the worker that leads.
const POLLS = 2;

export class Wakeups {
  /** There may be work, or room for it. */
  readonly claims: Wakeup;
  /** Something was scheduled that is due at a certain time. */
  readonly timers: TimerWakeup;
  /** A write had an unknown outcome: the heartbeat loop reads which claims of this worker the database has. */
  readonly heartbeats: Wakeup;

  constructor(runtime: Runtime, pollMs: number) {
    this.claims = new Wakeup(runtime);
    this.timers = new TimerWakeup(runtime, POLLS * pollMs);
    this.heartbeats = new Wakeup(runtime);
  }
}
