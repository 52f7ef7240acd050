// Writes this worker's heartbeat, and with each one compares what this worker holds with the database and looks for dead workers.

import { claimIds, giveBackClaims, lostItems, NO_HEARTBEAT, readHeartbeats, recoverWorker, writeHeartbeat } from '../../store/index.js';
import type { Announcer } from '../commit/announcer.js';
import type { WorkerParts } from '../engine-options.js';
import type { StepRows } from '../turns/step-rows.js';
import type { VmCache } from '../turns/vm-cache.js';
import type { HeldWork } from '../work/held-work.js';
import type { Stopper } from '../work/stopper.js';
import { Loop } from './loop.js';
import { SilentWorkers } from './silent-workers.js';
import type { Wakeup } from './wakeup.js';

const RETRY_MS = 1_000;

/** The heartbeat loop of one worker, on a connection of its own: a busy pool must not make it look dead. */
export class HeartbeatLoop extends Loop {
  /** Resolves when this worker was declared dead: others have its work, and everything it does must stop. */
  readonly declaredDead: Promise<void>;
  private readonly others: SilentWorkers;
  private server: string | undefined;
  private readonly reportDead: () => void;

  constructor(
    parts: WorkerParts,
    wakeup: Wakeup,
    private readonly held: HeldWork,
    private readonly cache: VmCache,
    private readonly stopper: Stopper,
    private readonly announcer: Announcer,
    private readonly stepRows: StepRows,
  ) {
    // A silent connection must be given up while there is still time to write the heartbeat on another one.
    const link = parts.store.link({ replyTimeoutMs: Math.max(1_000, parts.options.deadAfterMs / 3) });
    super('heartbeat', parts.options.heartbeatMs, link, wakeup, parts);
    this.others = new SilentWorkers(parts.workerId, parts.options);
    let report: () => void = () => undefined;
    this.declaredDead = new Promise((resolve) => {
      report = resolve;
    });
    this.reportDead = report;
  }

  override start(): void {
    super.start(this.parts.options.heartbeatMs);
  }

  protected override async pass(): Promise<number> {
    const { workerId, options } = this.parts;
    const server = await writeHeartbeat(this.link, workerId);
    if (server === undefined) {
      this.running = false;
      this.reportDead();
      return 0;
    }
    // Another server, or one that was restarted, may lack the last commits: the runs in memory may be ahead of it.
    if (this.server !== undefined && server !== this.server) this.cache.clear();
    this.server = server;
    await this.giveBackUnknown();
    await this.stopLost();
    await this.sweep();
    return options.heartbeatMs;
  }

  protected override retryAfterMs(): number {
    return Math.min(RETRY_MS, this.parts.options.heartbeatMs);
  }

  // Claims whose reply was lost: the database has them, but this worker does not have their items.
  private async giveBackUnknown(): Promise<void> {
    const { workerId, runtime } = this.parts;
    const claims = await claimIds(this.link, workerId);
    if (claims.length === 0) return;
    // First the steps: the claims are how they are found.
    this.announcer.wake(await this.stepRows.requeueUnknown(this.link));
    const unknown = this.held.unknown(claims);
    if (unknown.length === 0) return;
    const given = await giveBackClaims(this.link, workerId, unknown, runtime.newFence());
    this.announcer.wake(given.map((item) => item.queue));
  }

  private async stopLost(): Promise<void> {
    const held = this.held.all().filter(({ step }) => step === undefined);
    if (held.length === 0) return;
    for (const { id, fence } of await lostItems(this.link, held)) this.stopper.stop(id, 'lost', fence);
  }

  private async sweep(): Promise<void> {
    const readAt = this.parts.runtime.monotonicNow();
    const workers = await readHeartbeats(this.link);
    for (const { workerId, beats } of this.others.read(workers, readAt)) await this.recover(workerId, beats);
  }

  // A failure here does not change how long the worker has been silent: the next sweep tries again, and takes what is left.
  private async recover(deadId: string, beats: number): Promise<void> {
    const { options, events, runtime } = this.parts;
    try {
      const recovered = await recoverWorker(this.link, deadId, beats, options.maxCrashes, runtime.newFence);
      // Undefined: it was not dead, or another worker is recovering it. The next sweep takes what that one leaves.
      if (recovered ? recovered.left === 0 : beats !== NO_HEARTBEAT) this.others.remove(deadId);
      if (!recovered) return;
      events.emit({ type: 'recovered', workerId: deadId, executions: recovered.given.map((item) => item.id) });
      this.announcer.wake(recovered.given.map((item) => item.queue));
    } catch (error) {
      if (this.running) events.emit({ type: 'problem', where: `recovery of ${deadId}`, error });
    }
  }
}
