// Takes work whenever there is room for it: at once after a hint, otherwise by polling.

import { ANY, claimLanes, claimWork, isDatabaseError, type Lane, readLanes, updateUnservedLanes } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import type { WorkerParts } from '../engine-options.js';
import type { Dispatcher } from '../work/dispatcher.js';
import type { GiveBack } from '../work/give-back.js';
import type { HeldWork } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import { LaneWatch } from './lane-watch.js';
import { Loop } from './loop.js';
import type { QueueHead } from './queue-head.js';
import type { Wakeups } from './wakeups.js';

// While the queues are full, the next claim is sent before the last one has returned, so that the database does not wait for
// Node to start the work: drain of noop tasks 48k → 54k per second.
const IN_FLIGHT = 2;
// Finished work that waits to be written takes no slot, but it must not pile up either.
const MOST_BACKLOG_BATCHES = 4;

/** The claim loop of one worker. */
export class ClaimLoop extends Loop {
  private readonly lanes: LaneWatch;
  private readonly inFlight: Promise<boolean>[] = [];
  private rotation = 0;
  /** Smaller than usual after the server has cancelled a claim: that one may have been too large for the statement timeout. */
  private batch: number;

  constructor(
    parts: WorkerParts,
    private readonly wakeups: Wakeups,
    private readonly head: QueueHead,
    private readonly held: HeldWork,
    private readonly slots: Slots,
    private readonly committer: Committer,
    private readonly giveBack: GiveBack,
    private readonly dispatcher: Dispatcher,
  ) {
    super('claim', parts.options.pollMs, parts.store.link({ asyncCommit: true }), wakeups.claims, parts);
    const { options, store, runtime } = parts;
    this.batch = options.claimBatch;
    this.lanes = new LaneWatch(options.pollMs, runtime);
    const served = new Set([...options.queues, ANY]);
    this.subscriptions.push(
      store.hints.on('work', (queue) => {
        if (served.has(queue)) this.wakeup.trigger();
      }),
      store.hints.on('lane', (task) => {
        if (task !== ANY && !this.hasTask(task)) return;
        this.lanes.hinted();
        this.wakeup.trigger();
      }),
    );
  }

  protected override async pass(): Promise<number> {
    const { pollMs } = this.parts.options;
    this.slots.stopWaiting();
    this.sendClaims();
    const next = this.inFlight.shift();
    if (!next) {
      this.slots.waitForRoom();
      return pollMs;
    }
    const isEmpty = await next;
    return isEmpty && this.inFlight.length === 0 ? pollMs : 0;
  }

  protected override retryAfterMs(): number {
    return this.parts.options.pollMs;
  }

  protected override async end(): Promise<void> {
    await Promise.all(this.inFlight);
  }

  private sendClaims(): void {
    while (this.inFlight.length < (this.head.isShort ? 1 : IN_FLIGHT)) {
      const limit = Math.min(this.room(), this.batch);
      if (limit <= 0) return;
      this.inFlight.push(this.claim(limit));
    }
  }

  private room(): number {
    return this.committer.backlog > this.parts.options.claimBatch * MOST_BACKLOG_BATCHES ? 0 : this.slots.free();
  }

  // Returns whether the queues are empty.
  private async claim(limit: number): Promise<boolean> {
    const { parts, held, slots } = this;
    const { workerId, options, events, runtime } = parts;
    const claimId = runtime.newId();
    held.expectClaim(claimId);
    slots.acquire('claiming', limit);
    let claiming = limit;
    const behind = this.head.next();
    const sentAt = runtime.monotonicNow();
    try {
      const lanes = this.lanes.isDue() ? await this.ownLanes() : [];
      const claim =
        lanes.length > 0
          ? await claimLanes(this.link, workerId, claimId, lanes, limit)
          : await claimWork(this.link, workerId, claimId, this.rotatedQueues(), limit, behind);
      const items = held.take(claim);
      // The dispatch below takes slots for the items; nothing runs in between.
      slots.release('claiming', limit);
      claiming = 0;
      this.batch = Math.min(options.claimBatch, this.batch * 2);
      if (items.length > 0) {
        if (events.hasListeners('claimed')) events.emit({ type: 'claimed', workerId, count: items.length });
        void this.dispatcher.dispatch(items);
      }
      if (claim.ended.length > 0) await this.giveBack.dropLateEvents(claim.ended);
      if (lanes.length > 0) {
        // The main lane is next; a lane that is not empty yet is claimed from after it.
        if (claim.taken === limit) this.lanes.hinted();
        return false;
      }
      this.lanes.mainClaimed();
      if (!behind && claim.lanes) this.lanes.seen();
      return this.head.claimed(claim, limit, behind, sentAt) && !this.lanes.isDue();
    } catch (error) {
      slots.release('claiming', claiming);
      // The reply was lost; the claim itself may have been written. Then the heartbeat loop finds it among the claims of this worker.
      held.forgetClaim(claimId);
      events.emit({ type: 'problem', where: 'claim', error });
      if (isDatabaseError(error)) this.batch = Math.max(1, Math.floor(this.batch / 4));
      this.wakeups.heartbeats.trigger();
      this.head.failed();
      return true;
    }
  }

  // The lanes that this worker may claim from. Lanes that no worker serves are updated as well.
  private async ownLanes(): Promise<Lane[]> {
    this.lanes.reading();
    const lanes = await readLanes(this.link, this.parts.options.queues);
    const others = lanes.filter(({ task }) => !this.hasTask(task));
    if (others.length > 0) await updateUnservedLanes(this.link, others);
    return lanes.filter(({ task }) => this.hasTask(task));
  }

  private hasTask(name: string): boolean {
    return this.parts.tasks.get(name) !== undefined;
  }

  // Each queue is first in turn, so that a full one does not starve the rest.
  private rotatedQueues(): string[] {
    const { queues } = this.parts.options;
    if (queues.length < 2) return [...queues];
    this.rotation = (this.rotation + 1) % queues.length;
    return [...queues.slice(this.rotation), ...queues.slice(0, this.rotation)];
  }
}
