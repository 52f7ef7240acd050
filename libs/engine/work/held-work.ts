// What this worker holds: its claims, the items of each that have not ended, and how to stop them.

import type { Claim, ClaimedItem, PendingStep } from '../../store/index.js';
import type { Runtime } from '../runtime.js';

/** Why a running item is stopped. */
export type StopReason = 'cancelled' | 'lost' | 'shutdown' | 'dead';

/** User code that runs for an item. */
export interface Stoppable {
  stop(reason: StopReason): void;
}

/** A claimed item in memory. */
export interface HeldItem extends ClaimedItem {
  claimId: string;
  /** The database's clock at the claim, in milliseconds. */
  claimedAt: number;
  /** The process's monotonic clock at the same moment. */
  claimedAtMonotonic: number;
  /** A task that was woken and is to be run: its events are read first, because a cancel may be among them. */
  readEventsFirst?: boolean;
  /** A step that has no row: it stands in the row of its run, and has no fence of its own. */
  step?: PendingStep;
  /** Set while user code runs for it. */
  running?: Stoppable;
  /** Nothing may be written for it any more. */
  dropped?: boolean;
}

/** Items that are being written or given back, and the claims whose rows go with the same write. */
export interface Ending {
  readonly claims: readonly string[];
  /** How many items of each claim. */
  readonly parts: ReadonlyMap<string, number>;
}

/** The claims of one worker. */
export class HeldWork {
  /** Of each claim whose row is there: the items that are held, and those whose write is in flight. */
  private readonly open = new Map<string, { left: number; writing: number; closing?: boolean }>();
  private readonly items = new Set<HeldItem>();
  /** Claims that were sent and have not returned. */
  private readonly expected = new Set<string>();
  /** Claims of which everything is written and whose row is still there: the next write deletes it. */
  private spent: string[] = [];

  constructor(private readonly runtime: Runtime) {}

  get size(): number {
    return this.items.size;
  }

  /** A claim of this id is about to be sent. */
  expectClaim(claimId: string): void {
    this.expected.add(claimId);
  }

  /** The reply to the claim was lost. If it was written, it is found among the worker's claims and given back. */
  forgetClaim(claimId: string): void {
    this.expected.delete(claimId);
  }

  /** Takes the items of a claim. The same run queued twice is one item; the events of a task are read before its attempt. */
  take(claim: Pick<Claim, 'claimId' | 'items' | 'now'>): HeldItem[] {
    this.expected.delete(claim.claimId);
    const held: HeldItem[] = [];
    const unique = new Map<string, HeldItem>();
    const claimedAtMonotonic = this.runtime.monotonicNow();
    for (const item of claim.items) {
      const known = unique.get(item.id);
      if (!known) {
        const taken = heldItem(item, claim.claimId, claim.now, claimedAtMonotonic);
        unique.set(item.id, taken);
        this.items.add(taken);
        held.push(taken);
      } else if (known.run !== item.run) {
        // One row to run it and one to read its events: neither may be lost.
        known.run = true;
        known.readEventsFirst = true;
      }
    }
    if (held.length > 0) this.open.set(claim.claimId, { left: held.length, writing: 0 });
    return held;
  }

  /**
   * These items are about to be written or given back. A dead worker's work is found by the row of its claim, so that row is
   * deleted only with the write of the last item, and only when no other write of its items is still in flight: that one may have
   * to be tried again.
   */
  begin(items: readonly HeldItem[]): Ending {
    const parts = new Map<string, number>();
    for (const item of items) {
      const claim = this.items.delete(item) && this.open.get(item.claimId);
      if (!claim) continue;
      claim.left--;
      claim.writing++;
      parts.set(item.claimId, (parts.get(item.claimId) ?? 0) + 1);
    }
    const claims = this.spent;
    this.spent = [];
    for (const [claimId, count] of parts) {
      const claim = this.open.get(claimId);
      if (claim?.left === 0 && claim.writing === count) claims.push(claimId);
    }
    return { claims, parts };
  }

  /** That write is certain. Not to be called for a write that was given up: its work is found by its claims. */
  finish({ claims, parts }: Ending): void {
    for (const claimId of claims) this.open.delete(claimId);
    for (const [claimId, count] of parts) {
      const claim = this.open.get(claimId);
      if (!claim) continue;
      claim.writing -= count;
      if (claim.left === 0 && claim.writing === 0) this.spent.push(claimId);
    }
  }

  /**
   * Some of these items are written later than the rest. Returns the rest and them: the rows of their claims stay until they
   * are written too.
   */
  split({ claims, parts }: Ending, later: readonly HeldItem[]): [rest: Ending, later: Ending] {
    const rest = new Map(parts);
    const apart = new Map<string, number>();
    for (const { claimId } of later) {
      const left = rest.get(claimId);
      if (left === undefined) continue;
      rest.set(claimId, left - 1);
      apart.set(claimId, (apart.get(claimId) ?? 0) + 1);
    }
    return [
      { claims: claims.filter((claimId) => !apart.has(claimId)), parts: rest },
      { claims: [], parts: apart },
    ];
  }

  /** A claim of this many items was written by a statement that made them; they are admitted or moved to it. */
  openClaim(claimId: string, count: number): void {
    this.expected.delete(claimId);
    if (count > 0) this.open.set(claimId, { left: count, writing: 0 });
  }

  /** Items will be added to this claim: its row must stay. False when the row is gone, or may be deleted at this moment. */
  reserve(claimId: string, count: number): boolean {
    const claim = this.open.get(claimId);
    // One without items is spent: its row goes with the next write.
    if (!claim || claim.closing || claim.left + claim.writing === 0) return false;
    claim.left += count;
    return true;
  }

  /** The claims that have no items but these, which are about to end. Nothing is added to them from now on. */
  emptiedBy(items: readonly HeldItem[]): string[] {
    if (items.length === 0) return [];
    const counts = new Map<string, number>();
    for (const { claimId } of items) counts.set(claimId, (counts.get(claimId) ?? 0) + 1);
    return [...counts.keys()].filter((claimId) => {
      const claim = this.open.get(claimId);
      if (claim?.writing !== 0 || claim.left !== counts.get(claimId)) return false;
      claim.closing = true;
      return true;
    });
  }

  /** The rows of these claims are deleted. */
  closeClaims(claimIds: readonly string[]): void {
    for (const claimId of claimIds) this.open.delete(claimId);
  }

  /** They are not added after all. */
  unreserve(claimId: string, count: number): void {
    const claim = this.open.get(claimId);
    if (!claim) return;
    claim.left -= count;
    if (claim.left === 0 && claim.writing === 0) this.spent.push(claimId);
  }

  /** The items that a claim was opened or reserved for. */
  admit(items: readonly HeldItem[]): void {
    for (const item of items) this.items.add(item);
  }

  /** An item has ended, and nothing is to be written for it. */
  remove(item: HeldItem): void {
    if (this.items.delete(item)) this.unreserve(item.claimId, 1);
  }

  /** An item belongs to another claim from now on, which was opened for it. If it has ended meanwhile, that claim has one item less. */
  move(item: HeldItem, claimId: string): void {
    this.unreserve(this.items.has(item) ? item.claimId : claimId, 1);
    item.claimId = claimId;
  }

  /** There are rows of claims that only another write deletes. */
  get hasSpent(): boolean {
    return this.spent.length > 0;
  }

  all(): HeldItem[] {
    return [...this.items];
  }

  /** The claims among these that this worker does not have: their reply was lost. */
  unknown(claimIds: readonly string[]): string[] {
    return claimIds.filter((id) => !this.open.has(id) && !this.expected.has(id));
  }

  has(item: HeldItem): boolean {
    return this.items.has(item);
  }

  /** Every held item of an execution: its task may run while its events are read. */
  of(executionId: string): HeldItem[] {
    return [...this.items].filter((item) => item.id === executionId);
  }
}

// Written out: a spread with more properties after it makes a second object for those.
function heldItem(item: ClaimedItem, claimId: string, claimedAt: number, claimedAtMonotonic: number): HeldItem {
  return {
    id: item.id,
    bucket: item.bucket,
    type: item.type,
    name: item.name,
    queue: item.queue,
    priority: item.priority,
    status: item.status,
    fence: item.fence,
    attempts: item.attempts,
    crashes: item.crashes,
    parentId: item.parentId,
    parentCall: item.parentCall,
    version: item.version,
    options: item.options,
    tags: item.tags,
    progress: item.progress,
    run: item.run,
    seq: item.seq,
    input: item.input,
    createdAt: item.createdAt,
    cancelled: item.cancelled,
    claimId,
    claimedAt,
    claimedAtMonotonic,
    step: undefined,
    readEventsFirst: false,
    running: undefined,
    dropped: false,
  };
}
