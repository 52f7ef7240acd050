// Runs whose VM is kept in memory between turns. They only save time: the stored snapshot is what counts.

import type { PendingStep, StoredEvent } from '../../store/index.js';
import type { HeldItem } from '../work/held-work.js';
import type { MadeCalls } from './kept-states.js';
import type { RunningFlow } from './programs.js';

/** A run in memory, as it was when its last turn was written. */
export interface CachedRun {
  flow: RunningFlow;
  /** Its program may wait for signals. */
  takesSignals: boolean;
  /** What a turn needs of the run, as a claim would return it. Usable only while the run is at its fence. */
  item: HeldItem;
  calls: number;
  /** How many turns it has taken. */
  turns: number;
  /** Signals that no wait took: a turn that reads no events from the database needs them. */
  signals: StoredEvent[];
  /** The run has resume groups in the database. */
  grouped: boolean;
  cancelled: boolean;
  /** It may have rows of what it waits for. */
  hasWaiting: boolean;
  snapshotRef: string | null;
  /** The calls that it waits for, as they were made, while states are kept. */
  made: MadeCalls | undefined;
  /** Its steps that have no rows. */
  pending: readonly PendingStep[];
  /** How long its steps have been run at once although other work is queued; absent when nothing is. */
  ahead: { turns: number; since: number } | undefined;
  /** About what it takes in memory (`memoryOf`). */
  bytes: number;
}

// The memory that V8 needs for a run, by the length of its stored state. Measured: 1.3 bytes per character for one long string, 5 for a Map
// of numbers, 6.5 to 11 for arrays of records, 20 for 60,000 objects of one property; and 3,200 for a run without data.
// A snapshot is made at every turn, so its length costs nothing to know.
const BYTES_PER_CHARACTER = 16;
const BYTES_PER_RUN = 4_096;
const BYTES_PER_SIGNAL = 256;
// A run that is larger than this share of the whole is not kept: it would push out many that are cheaper to keep.
const LARGEST_SHARE = 1 / 4;

/** An estimate of the memory that a run with this stored state takes, in bytes. */
export function memoryOf(snapshot: string, signals: readonly StoredEvent[]): number {
  let bytes = BYTES_PER_RUN + snapshot.length * BYTES_PER_CHARACTER;
  for (const { payload } of signals) bytes += BYTES_PER_SIGNAL + 2 * (payload?.length ?? 0);
  return bytes;
}

/** Bounded by the number of runs and by their bytes; the run that was used longest ago leaves first. */
export class VmCache {
  private readonly runs = new Map<string, CachedRun>();
  private bytes = 0;

  constructor(
    private readonly mostRuns: number,
    private readonly mostBytes: number,
  ) {}

  /** Takes a run out, if it is at this fence. The caller puts it back after a commit that is certain. */
  take(id: string, fence?: number): CachedRun | undefined {
    const run = this.runs.get(id);
    if (!run) return undefined;
    this.drop(id);
    return fence === undefined || run.item.fence === fence ? run : undefined;
  }

  /** Whether a run of this size is kept. */
  accepts(run: Pick<CachedRun, 'bytes'>): boolean {
    return this.mostRuns > 0 && run.bytes <= this.mostBytes * LARGEST_SHARE;
  }

  /** Keeps a run as it was written at this fence. */
  put(run: CachedRun, fence: number): void {
    const { id } = run.item;
    this.drop(id);
    if (!this.accepts(run)) return;
    run.item.fence = fence;
    run.item.status = 'suspended';
    run.item.cancelled = run.cancelled;
    this.runs.set(id, run);
    this.bytes += run.bytes;
    while (this.runs.size > this.mostRuns || this.bytes > this.mostBytes) this.drop(this.runs.keys().next().value as string);
  }

  drop(id: string): void {
    this.bytes -= this.runs.get(id)?.bytes ?? 0;
    this.runs.delete(id);
  }

  clear(): void {
    this.runs.clear();
    this.bytes = 0;
  }
}
