// The label printer in the warehouse. It is slow, so the demo can kill a worker while a task runs.

import { setTimeout as wait } from 'node:timers/promises';

export class LabelPrinter {
  constructor(private readonly msPerLabel: number) {}

  /** Prints a label; rejects when the task is aborted. */
  async print(signal: AbortSignal): Promise<void> {
    await wait(this.msPerLabel, undefined, { signal });
  }
}
