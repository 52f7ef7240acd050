// The wakeups of a worker's loops. A part that must wake a loop is given these, not the loop.

import type { Runtime } from '../runtime.js';
import { Wakeup } from './wakeup.js';

export class Wakeups {
  /** There may be work, or room for it. */
  readonly claims: Wakeup;
  /** Something was scheduled that is due at a certain time. */
  readonly timers: Wakeup;
  /** A write had an unknown outcome: the heartbeat loop reads which claims of this worker the database has. */
  readonly heartbeats: Wakeup;

  constructor(runtime: Runtime) {
    this.claims = new Wakeup(runtime);
    this.timers = new Wakeup(runtime);
    this.heartbeats = new Wakeup(runtime);
  }
}
