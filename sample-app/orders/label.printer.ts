// The label printer in the warehouse: slow, and the reason why a crash may catch a task in the middle.

import { setTimeout as wait } from 'node:timers/promises';

export class LabelPrinter {
  constructor(private readonly msPerLabel: number) {}

  /** Prints; gives up when the task is aborted. */
  async print(signal: AbortSignal): Promise<void> {
    await wait(this.msPerLabel, undefined, { signal });
  }
}
