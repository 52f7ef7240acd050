// What every loop of the engine does: run a pass, wait until it is woken or for the time the pass asked for, and end when stopped.

import { CLOSE_TIMEOUT_MS, type Link, within } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { Wakeup } from './wakeup.js';

/** A loop with a connection of its own. Claims, timers, heartbeats and vacuum are such loops. */
export abstract class Loop {
  protected running = true;
  /** Called when the loop is stopped. */
  protected readonly subscriptions: (() => void)[] = [];
  private finished: Promise<void> = Promise.resolve();
  private readonly status: { name: string; everyMs: number; passes: number };

  protected constructor(
    name: string,
    /** The longest wait between two passes when nothing fails and nothing wakes it. */
    everyMs: number,
    protected readonly link: Link,
    protected readonly wakeup: Wakeup,
    protected readonly parts: WorkerParts,
  ) {
    this.status = { name, everyMs, passes: 0 };
  }

  /** Begins, with a first pass after this many milliseconds. */
  start(firstAfterMs = 0): void {
    this.finished = this.run(firstAfterMs);
  }

  /**
   * Ends the loop and closes its connection. A pass that waits for the reply of a silent server is cut off after this long: its
   * statement then has an unknown outcome, as after any loss of a connection.
   */
  async stop(withinMs = CLOSE_TIMEOUT_MS): Promise<void> {
    this.running = false;
    for (const unsubscribe of this.subscriptions) unsubscribe();
    this.wakeup.clear();
    this.wakeup.trigger();
    const hasEnded = await within(this.finished, withinMs, this.parts.runtime);
    await this.link.close(hasEnded ? CLOSE_TIMEOUT_MS : 0);
    await this.finished;
  }

  /** One pass. Returns how many milliseconds to wait at most before the next; 0 for no wait. */
  protected abstract pass(): Promise<number>;

  /** How long to wait after a pass that threw. */
  protected abstract retryAfterMs(error: unknown): number;

  /** The last thing the loop does. */
  protected async end(): Promise<void> {}

  private async run(firstAfterMs: number): Promise<void> {
    const { status } = this;
    this.parts.events.emit({ type: 'loop-started', loop: status });
    let waitMs = firstAfterMs;
    while (this.running) {
      if (waitMs > 0) {
        await this.wakeup.wait(waitMs);
        if (!this.running) break;
      }
      status.passes++;
      try {
        waitMs = await this.pass();
      } catch (error) {
        // A loop that is being stopped has lost its connection on purpose.
        if (this.running) this.parts.events.emit({ type: 'problem', where: status.name, error });
        waitMs = this.retryAfterMs(error);
      }
    }
    await this.end();
    this.parts.events.emit({ type: 'loop-stopped', loop: status });
  }
}
