// Runs whose VM is kept in memory between turns. Only a shortcut: the stored snapshot is the truth.

import type { StoredEvent } from '../../libs/store/index.js';
import type { HeldItem } from './held-work.js';
import type { RunningFlow } from './programs.js';

/** A run in memory, as it was when its last turn was written. */
export interface CachedRun {
  flow: RunningFlow;
  /** What a turn needs to know of the run, as a claim would bring it. Usable only while the run is at its fence. */
  item: HeldItem;
  calls: number;
  /** Signals that no wait took: a turn without a look at the database needs them at hand. */
  signals: StoredEvent[];
  /** The run has resume groups in the database. */
  grouped: boolean;
  cancelled: boolean;
  snapshotRef: string | null;
}

/** Bounded; the run that was used longest ago leaves first. */
export class VmCache {
  private readonly runs = new Map<string, CachedRun>();

  constructor(private readonly limit: number) {}

  /** Takes a run out, if it is at this fence. Whoever takes it puts it back after a commit that is certain. */
  take(id: string, fence?: number): CachedRun | undefined {
    const run = this.runs.get(id);
    if (!run) return undefined;
    this.runs.delete(id);
    return fence === undefined || run.item.fence === fence ? run : undefined;
  }

  /** Keeps a run as it was written at this fence. */
  put(run: CachedRun, fence: number): void {
    if (this.limit === 0) return;
    const { id } = run.item;
    run.item.fence = fence;
    run.item.status = 'suspended';
    run.item.cancelled = run.cancelled;
    this.runs.set(id, run);
    if (this.runs.size > this.limit) this.runs.delete(this.runs.keys().next().value as string);
  }

  drop(id: string): void {
    this.runs.delete(id);
  }

  clear(): void {
    this.runs.clear();
  }
}
