// Keeps the queue tables clean while there is load; rests when there is none.

import { mayVacuum, type Runner, type Store, vacuumQueues } from '../../libs/store/index.js';
import { Doorbell } from './alarm.js';
import { endLoop } from './end-loop.js';
import type { EngineEvents } from './engine-events.js';

// Below this many finished executions since the last time there is nothing worth cleaning.
const WORTH_IT = 500;
// Another worker is at it, and will be for a while.
const LEFT_TO_OTHERS = 10;

export class VacuumLoop {
  private readonly link;
  private readonly bell = new Doorbell();
  private done = 0;
  private running = true;
  private finished: Promise<void> = Promise.resolve();

  constructor(
    store: Store,
    private readonly asking: Runner,
    private readonly everyMs: number,
    private readonly events: EngineEvents,
  ) {
    this.link = store.link();
  }

  start(): void {
    if (this.everyMs > 0) this.finished = this.loop();
  }

  /** So many executions have left the queue. */
  count(n: number): void {
    this.done += n;
  }

  async stop(): Promise<void> {
    this.running = false;
    this.bell.ring();
    await endLoop(this.finished, this.link);
  }

  private async loop(): Promise<void> {
    let may: boolean | undefined;
    while (this.running) {
      await this.bell.wait(this.everyMs);
      if (!this.running || this.done < WORTH_IT) continue;
      try {
        may ??= await mayVacuum(this.asking);
        // Only an owner's VACUUM does anything; `doctor` says so, and autovacuum stands behind it.
        if (!may) return;
        this.done = 0;
        if (!(await vacuumQueues(this.asking, this.link))) await this.bell.wait(this.everyMs * LEFT_TO_OTHERS);
      } catch (error) {
        if (this.running) this.events.emit({ type: 'trouble', where: 'vacuum', error });
        await this.bell.wait(5_000);
      }
    }
  }
}
