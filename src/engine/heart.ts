// Says that this worker lives, notices when it was declared dead, and declares others dead.

import { beat, claimIds, giveBackClaims, lostItems, NO_HEARTBEAT, readBeats, recoverWorker, type Store } from '../../libs/store/index.js';
import { Doorbell } from './alarm.js';
import { endLoop } from './end-loop.js';
import type { EngineEvents } from './engine-events.js';
import type { EngineOptions } from './engine-options.js';
import type { HeldWork } from './held-work.js';

export interface HeartParts {
  store: Store;
  workerId: string;
  held: HeldWork;
  options: EngineOptions;
  events: EngineEvents;
  /** This worker was declared dead: everything it does must stop. */
  dead(): void;
  /** What was claimed at this fence is no longer ours. */
  lost(executionId: string, fence: number): void;
  /** The database is served by another server, or by one that was started again: it may lack the last commits. */
  serverChanged(): void;
  /** Work went back to these queues. */
  woke(queues: readonly string[]): void;
}

interface Observed {
  beats: number;
  /** Silence that this sweeper lived through itself, in milliseconds. */
  silentMs: number;
}

/** The heart of one worker, on a connection of its own: a busy pool must not make it look dead. */
export class Heart {
  private readonly link;
  private readonly bell = new Doorbell();
  private readonly observed = new Map<string, Observed>();
  private lastSweep: number | undefined;
  private running = true;
  private server: string | undefined;
  private finished: Promise<void> = Promise.resolve();

  constructor(private readonly parts: HeartParts) {
    // A silent connection must be given up while there is still time to beat on another one.
    this.link = parts.store.link({ answerTimeoutMs: Math.max(1_000, parts.options.deadAfterMs / 3) });
  }

  start(): void {
    this.finished = this.loop();
  }

  /** A write had an unknown outcome: look at once which claims the database knows. */
  doubt(): void {
    this.bell.ring();
  }

  async stop(): Promise<void> {
    this.running = false;
    this.bell.ring();
    await endLoop(this.finished, this.link);
  }

  private async loop(): Promise<void> {
    while (this.running) {
      await this.bell.wait(this.parts.options.heartbeatMs);
      if (!this.running) return;
      try {
        await this.once();
      } catch (error) {
        if (this.running) this.parts.events.emit({ type: 'trouble', where: 'heartbeat', error });
        await this.bell.wait(Math.min(1_000, this.parts.options.heartbeatMs));
      }
    }
  }

  private async once(): Promise<void> {
    const { workerId } = this.parts;
    const server = await beat(this.link, workerId);
    if (server === undefined) {
      this.running = false;
      this.parts.dead();
      return;
    }
    if (this.server !== undefined && server !== this.server) this.parts.serverChanged();
    this.server = server;
    await this.giveBackUnknown();
    await this.dropLost();
    await this.sweep();
  }

  private async giveBackUnknown(): Promise<void> {
    const { workerId, held, woke } = this.parts;
    const unknown = held.unknown(await claimIds(this.link, workerId));
    if (unknown.length === 0) return;
    const given = await giveBackClaims(this.link, workerId, unknown);
    woke([...new Set(given.map((item) => item.queue))]);
  }

  private async dropLost(): Promise<void> {
    const held = this.parts.held.all();
    if (held.length === 0) return;
    for (const { id, fence } of await lostItems(this.link, held)) this.parts.lost(id, fence);
  }

  // A sweeper counts only silence between two of its own readings, and of the time between them no more than a third of deadAfter
  // (or one interval of heartbeats, where that is longer). So an outage of the database, or a pause of this process, makes nobody
  // look dead: whoever lives has the rest of the time to beat again. And the dead are found although readings are far apart or
  // fail now and then, because the database is overloaded.
  private async sweep(): Promise<void> {
    const { options, workerId } = this.parts;
    const now = performance.now();
    const lived = this.lastSweep === undefined ? 0 : Math.min(now - this.lastSweep, Math.max(options.heartbeatMs, options.deadAfterMs / 3));
    const beats = await readBeats(this.link);
    this.lastSweep = now;
    const present = new Set(beats.map((worker) => worker.workerId));
    for (const id of this.observed.keys()) if (!present.has(id)) this.observed.delete(id);
    for (const worker of beats) {
      if (worker.workerId === workerId) continue;
      const before = this.observed.get(worker.workerId);
      // One whose heartbeat is gone has been declared dead, by this sweeper or another, and what it held was not all to be had.
      const isSilent = before && (before.beats === worker.beats || worker.beats === NO_HEARTBEAT);
      const silentMs = isSilent ? before.silentMs + lived : 0;
      this.observed.set(worker.workerId, { beats: worker.beats, silentMs });
      if (silentMs >= options.deadAfterMs) await this.recover(worker.workerId, worker.beats);
    }
  }

  // A failure here says nothing of the silence that was seen: the next sweep tries again, and so does it for what is left.
  private async recover(deadId: string, beats: number): Promise<void> {
    const { options, events, woke } = this.parts;
    try {
      const recovered = await recoverWorker(this.link, deadId, beats, options.maxCrashes);
      // Nothing at all: it was not dead, or another sweeper is at it; what that one leaves is tried again.
      if (recovered ? recovered.left === 0 : beats !== NO_HEARTBEAT) this.observed.delete(deadId);
      if (!recovered) return;
      events.emit({ type: 'recovered', workerId: deadId, executions: recovered.given.map((item) => item.id) });
      woke([...new Set(recovered.given.map((item) => item.queue))]);
    } catch (error) {
      if (this.running) events.emit({ type: 'trouble', where: `recovery of ${deadId}`, error });
    }
  }
}
