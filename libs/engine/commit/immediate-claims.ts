// Children that their own worker can run now are claimed in the commit that makes them, and never pass through the queue.

import {
  bucketOfRelative,
  type ClaimedItem,
  type CommitOutcome,
  type ImmediateClaim,
  type NewExecution,
  type TurnCommit,
} from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { QueueHead } from '../loops/queue-head.js';
import type { Wakeups } from '../loops/wakeups.js';
import type { DatabaseClock } from '../work/database-clock.js';
import type { HeldItem, HeldWork } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';

export class ImmediateClaims {
  constructor(
    private readonly parts: WorkerParts,
    private readonly wakeups: Wakeups,
    private readonly head: QueueHead,
    private readonly slots: Slots,
    private readonly held: HeldWork,
    private readonly clock: DatabaseClock,
    /** Aborted when no new work is taken. */
    private readonly closing: AbortSignal,
  ) {}

  /** Only while the queues are empty (nothing is overtaken), for tasks that this worker has, in queues that it serves, while it has room. */
  choose(turns: readonly TurnCommit[]): ImmediateClaim | undefined {
    if (!this.head.isShort || this.closing.aborted) return undefined;
    const { options, tasks, runtime } = this.parts;
    let room = this.slots.freeForTasks();
    const ids: string[] = [];
    for (const turn of turns) {
      for (const child of turn.children) {
        if (room <= 0) break;
        if (child.type !== 'task' || child.options?.delayMs !== undefined) continue;
        if (!options.queues.includes(child.queue) || !tasks.get(child.targetName)) continue;
        ids.push(child.id);
        room--;
      }
    }
    if (ids.length === 0) return undefined;
    const claimId = runtime.newId();
    this.held.expectClaim(claimId);
    this.slots.acquire('reserved', ids.length);
    return { claimId, ids };
  }

  /**
   * The commit is written: the chosen children of the turns that won belong to this worker. Returns them by turn. Each keeps its
   * reserved slot until the lane that submitted the turn runs it.
   */
  take({ claimId, ids }: ImmediateClaim, turns: readonly TurnCommit[], { turns: won, fence }: CommitOutcome): HeldItem[][] {
    const chosen = new Set(ids);
    const children: ClaimedItem[] = [];
    const counts = turns.map((turn, n) => {
      const before = children.length;
      if (won[n]) for (const child of turn.children) if (chosen.has(child.id)) children.push(claimedChild(child, turn, fence));
      return children.length - before;
    });
    const items = this.held.take({ claimId, items: children, now: this.clock.now() });
    this.slots.release('reserved', ids.length - items.length);
    const { events, workerId } = this.parts;
    if (items.length > 0 && events.hasListeners('claimed')) events.emit({ type: 'claimed', workerId, count: items.length });
    return counts.map((count) => items.splice(0, count));
  }

  /** The outcome of the commit is unknown. If it was written, the heartbeat loop finds the claim and gives the children back. */
  uncertain({ claimId, ids }: ImmediateClaim): void {
    this.slots.release('reserved', ids.length);
    this.held.forgetClaim(claimId);
    this.wakeups.heartbeats.trigger();
  }
}

// The child as a claim would have returned it.
function claimedChild(child: NewExecution, parent: TurnCommit, fence: number): ClaimedItem {
  return {
    id: child.id,
    bucket: bucketOfRelative(child.id, parent),
    type: child.type,
    name: child.targetName,
    queue: child.queue,
    priority: child.priority ?? 0,
    status: 'pending',
    fence,
    attempts: 0,
    crashes: 0,
    parentId: child.parentId ?? null,
    parentCall: child.parentCall ?? null,
    version: null,
    options: child.options ?? null,
    tags: null,
    progress: null,
    run: true,
    seq: 0,
    input: child.input ?? null,
    createdAt: null,
    cancelled: false,
  };
}
