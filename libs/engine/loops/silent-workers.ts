// Counts how long other workers have been silent, and tells which of them are dead.

import { NO_HEARTBEAT } from '../../store/index.js';
import type { EngineOptions } from '../engine-options.js';

/** A worker and the number of its heartbeats; `NO_HEARTBEAT` when it has claims and no heartbeat. */
export interface Heartbeats {
  workerId: string;
  beats: number;
}

interface Observed {
  beats: number;
  /** How long it has been silent while this worker itself was running, in milliseconds. */
  silentMs: number;
}

/** The other workers, as one worker reads them. */
export class SilentWorkers {
  private readonly observed = new Map<string, Observed>();
  private lastReadAt: number | undefined;

  constructor(
    private readonly ownId: string,
    private readonly options: Pick<EngineOptions, 'heartbeatMs' | 'deadAfterMs'>,
  ) {}

  /**
   * Takes a reading of all workers, which began at this time. Returns those that are dead.
   * A worker counts only silence between two of its own readings, and of the time between them at most a third of deadAfter (or one
   * heartbeat interval, if that is longer). So an outage of the database, or a pause of this process, makes no living worker look
   * dead: it has the rest of deadAfter to write a heartbeat. Dead workers are still found when readings are far apart or fail now
   * and then because the database is overloaded.
   */
  read(workers: readonly Heartbeats[], readAt: number): Heartbeats[] {
    const { heartbeatMs, deadAfterMs } = this.options;
    const countedMs = this.lastReadAt === undefined ? 0 : Math.min(readAt - this.lastReadAt, Math.max(heartbeatMs, deadAfterMs / 3));
    this.lastReadAt = readAt;
    const present = new Set(workers.map(({ workerId }) => workerId));
    for (const id of this.observed.keys()) if (!present.has(id)) this.observed.delete(id);
    return workers.filter(({ workerId, beats }) => {
      if (workerId === this.ownId) return false;
      const before = this.observed.get(workerId);
      // A worker without a heartbeat row was declared dead by this worker or another, and some of what it held was locked.
      const isSilent = before && (before.beats === beats || beats === NO_HEARTBEAT);
      const silentMs = isSilent ? before.silentMs + countedMs : 0;
      this.observed.set(workerId, { beats, silentMs });
      return silentMs >= deadAfterMs;
    });
  }

  /** Its work was taken over, or it is alive. */
  remove(workerId: string): void {
    this.observed.delete(workerId);
  }
}
