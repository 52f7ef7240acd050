// The bells of a worker's loops. Whatever must wake a loop is given these, not the loop.

import type { Runtime } from '../runtime.js';
import { Doorbell } from './doorbell.js';

export class Bells {
  /** There may be work, or room for it. */
  readonly claims: Doorbell;
  /** Something was scheduled that is due at a certain time. */
  readonly timers: Doorbell;
  /** A write had an unknown outcome: the heart looks which claims of this worker the database has. */
  readonly heart: Doorbell;

  constructor(runtime: Runtime) {
    this.claims = new Doorbell(runtime);
    this.timers = new Doorbell(runtime);
    this.heart = new Doorbell(runtime);
  }
}
