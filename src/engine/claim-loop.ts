// Takes work whenever there is room for it: at once after a hint, by polling behind that.

import { ANY, claimLanes, claimWork, isDatabaseError, type Lane, newId, readLanes, type Store, tendLanes } from '../../libs/store/index.js';
import { Doorbell } from './alarm.js';
import { endLoop } from './end-loop.js';
import type { EngineEvents } from './engine-events.js';
import type { EngineOptions } from './engine-options.js';
import type { HeldItem, HeldWork } from './held-work.js';
import { LaneWatch } from './lane-watch.js';
import { QueueHead } from './queue-head.js';

export interface ClaimLoopParts {
  store: Store;
  workerId: string;
  held: HeldWork;
  options: EngineOptions;
  events: EngineEvents;
  /** How many more executions may be taken now. */
  room(): number;
  /** Whether this worker has a task of this name. */
  has(task: string): boolean;
  /** Runs what was claimed; must not throw. */
  dispatch(items: HeldItem[]): void;
  /** What came for these executions, which have ended, can go; must not throw. */
  dropLate(ids: readonly string[]): Promise<void>;
  /** A claim of unknown outcome: the worker's own list must be looked at. */
  doubt(): void;
}

// While the queues are full, the next claim is on its way before the last one is answered, so that the database does not wait
// for Node to start what it got: drain of noop tasks 48k → 54k per second.
const IN_FLIGHT = 2;

/** The claim loop of one worker. */
export class ClaimLoop {
  private readonly bell = new Doorbell();
  private readonly link;
  private readonly head;
  private readonly deaf: (() => void)[];
  private running = true;
  private finished: Promise<void> = Promise.resolve();
  private readonly lanes: LaneWatch;
  private turn = 0;
  private full = false;
  /** Fewer than allowed after the server has cancelled a claim: it may be too large for the time that it is allowed. */
  private most: number;
  /** Executions asked for by claims that are not answered yet. */
  asked = 0;
  /** The last claim came back short: the queues were empty a moment ago. */
  short = true;

  constructor(private readonly parts: ClaimLoopParts) {
    this.link = parts.store.link({ relaxed: true });
    this.head = new QueueHead(parts.options.pollMs);
    this.most = parts.options.claimBatch;
    this.lanes = new LaneWatch(parts.options.pollMs);
    const served = new Set([...parts.options.queues, ANY]);
    this.deaf = [
      parts.store.hints.on('work', (queue) => {
        if (served.has(queue)) this.nudge();
      }),
      parts.store.hints.on('lane', (task) => {
        if (task !== ANY && !parts.has(task)) return;
        this.lanes.hinted();
        this.nudge();
      }),
    ];
  }

  start(): void {
    this.finished = this.loop();
  }

  /** There may be work. */
  nudge(): void {
    this.bell.ring();
  }

  /** There is room again; of use only if that was what the loop waited for. */
  roomFreed(): void {
    if (this.full) this.bell.ring();
  }

  /** Takes nothing more. A claim that is on its way has this long to be answered; then it is found by a sweep, if it happened. */
  async stop(withinMs?: number): Promise<void> {
    this.running = false;
    for (const unsubscribe of this.deaf) unsubscribe();
    this.nudge();
    await endLoop(this.finished, this.link, withinMs);
  }

  private async loop(): Promise<void> {
    const { options } = this.parts;
    const claims: Promise<boolean>[] = [];
    while (this.running) {
      this.ask(claims);
      const next = claims.shift();
      if (!next) {
        this.full = true;
        await this.bell.wait(options.pollMs);
        this.full = false;
        continue;
      }
      const isEmpty = await next;
      if (isEmpty && claims.length === 0 && this.running) await this.bell.wait(options.pollMs);
    }
    await Promise.all(claims);
  }

  private ask(claims: Promise<boolean>[]): void {
    while (claims.length < (this.short ? 1 : IN_FLIGHT)) {
      const limit = Math.min(this.parts.room(), this.most);
      if (limit <= 0) return;
      claims.push(this.claim(limit));
    }
  }

  // Answers whether the queues are empty.
  private async claim(limit: number): Promise<boolean> {
    const { workerId, held, events } = this.parts;
    const claimId = newId();
    held.ask(claimId);
    this.asked += limit;
    const behind = this.head.next();
    const askedAt = performance.now();
    let open = limit;
    try {
      const lanes = this.lanes.isDue() ? await this.lanesAtHand() : [];
      const claim =
        lanes.length > 0
          ? await claimLanes(this.link, workerId, claimId, lanes, limit)
          : await claimWork(this.link, workerId, claimId, this.queuesInTurn(), limit, behind);
      const items = held.take(claim);
      // What was asked for is reserved by the dispatch below, or is room again; nothing comes in between.
      this.asked -= open;
      open = 0;
      this.most = Math.min(this.parts.options.claimBatch, this.most * 2);
      if (events.heard && items.length > 0) events.emit({ type: 'claimed', workerId, count: items.length });
      if (items.length > 0) this.parts.dispatch(items);
      if (claim.ended.length > 0) await this.parts.dropLate(claim.ended);
      if (lanes.length > 0) {
        // What comes next are the queues themselves; a lane that is not empty yet has its turn after them.
        if (claim.taken === limit) this.lanes.hinted();
        return false;
      }
      this.lanes.mainClaimed();
      if (!behind && claim.lanes) this.lanes.seen();
      this.short = claim.taken < limit;
      return this.head.claimed(claim, limit, behind, askedAt) && !this.lanes.isDue();
    } catch (error) {
      this.asked -= open;
      // The reply was lost, not necessarily the claim.
      held.unanswered(claimId);
      events.emit({ type: 'trouble', where: 'claim', error });
      if (isDatabaseError(error)) this.most = Math.max(1, Math.floor(this.most / 4));
      this.parts.doubt();
      this.short = true;
      return true;
    }
  }

  // The lanes that this worker may claim from. Those that nobody serves are tended on the way.
  private async lanesAtHand(): Promise<Lane[]> {
    this.lanes.looked();
    const lanes = await readLanes(this.link, this.parts.options.queues);
    const mine = lanes.filter(({ task }) => this.parts.has(task));
    if (mine.length < lanes.length)
      await tendLanes(
        this.link,
        lanes.filter(({ task }) => !this.parts.has(task)),
      );
    return mine;
  }

  // Several queues take turns at being first, so that a full one does not starve the rest.
  private queuesInTurn(): string[] {
    const { queues } = this.parts.options;
    if (queues.length < 2) return [...queues];
    this.turn = (this.turn + 1) % queues.length;
    return [...queues.slice(this.turn), ...queues.slice(0, this.turn)];
  }
}
