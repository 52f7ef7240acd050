// Stops what this worker does for an execution that was taken from it.

import { ANY, type Notifications } from '../../store/index.js';
import type { VmCache } from '../turns/vm-cache.js';
import type { HeldItem, HeldWork, StopReason } from './held-work.js';

export class Stopper {
  private readonly unsubscribe: () => void;

  constructor(
    private readonly held: HeldWork,
    private readonly cache: VmCache,
    hints: Notifications,
  ) {
    this.unsubscribe = hints.on('lost', (hint) => {
      const { id, fence } = readLostHint(hint);
      this.stop(id, 'lost', fence);
    });
  }

  /**
   * Stops what runs for the execution; with a fence, only what was claimed at that fence: it may have been claimed again since, even as a
   * new run of the same id. A step in place has no fence of its own, and its id is not used again.
   */
  stop(executionId: string, reason: StopReason, fence?: number): void {
    if (executionId === ANY) return;
    for (const item of this.held.of(executionId)) if (fence === undefined || item.step || item.fence === fence) item.running?.stop(reason);
    this.cache.drop(executionId);
  }

  /** What is run here for an execution now, if anything. */
  running(executionId: string): HeldItem | undefined {
    return this.held.of(executionId).find((item) => item.running !== undefined);
  }

  close(): void {
    this.unsubscribe();
  }
}

/** What tells the other workers that an execution was taken from them at this fence. */
export function lostHint(id: string, fence: number): string {
  return `${fence} ${id}`;
}

function readLostHint(hint: string): { id: string; fence: number | undefined } {
  if (hint === ANY) return { id: ANY, fence: undefined };
  const at = hint.indexOf(' ');
  return { id: hint.slice(at + 1), fence: Number(hint.slice(0, at)) };
}
