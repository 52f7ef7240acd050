// What this worker holds: its claims, the items of each that have not ended, and how to stop them.

import type { Claim, ClaimedItem } from '../../libs/store/index.js';

/** Why a running item is stopped. */
export type StopReason = 'cancelled' | 'lost' | 'shutdown' | 'dead';

/** A claimed item in memory. */
export interface HeldItem extends ClaimedItem {
  claimId: string;
  /** The database's clock at the claim, in milliseconds. */
  claimedAt: number;
  /** The process's monotonic clock at the same moment. */
  claimedAtMonotonic: number;
  /** Set while user code runs for it. */
  stop?: (reason: StopReason) => void;
  /** Nothing may be written for it any more. */
  dropped?: boolean;
}

/** The claims of one worker. */
export class HeldWork {
  private readonly open = new Map<string, number>();
  private readonly items = new Set<HeldItem>();
  /** Claims that were asked for and not answered yet. */
  private readonly asked = new Set<string>();
  /** Claims whose last item has ended and whose deletion is on its way. */
  private readonly closing = new Set<string>();

  get size(): number {
    return this.items.size;
  }

  ask(claimId: string): void {
    this.asked.add(claimId);
  }

  /** The claim was not answered; if it happened all the same, it is found among the worker's claims and given back. */
  unanswered(claimId: string): void {
    this.asked.delete(claimId);
  }

  /** Takes an answered claim. The same run queued twice is one item; a look at its events goes before another attempt. */
  take(claim: Pick<Claim, 'claimId' | 'items' | 'now'>): HeldItem[] {
    this.asked.delete(claim.claimId);
    const unique = new Map<string, HeldItem>();
    const claimedAtMonotonic = performance.now();
    for (const item of claim.items) {
      const twin = unique.get(item.id);
      if (!twin || (twin.run && !item.run))
        unique.set(item.id, { ...item, claimId: claim.claimId, claimedAt: claim.now, claimedAtMonotonic, stop: undefined, dropped: false });
    }
    const held = [...unique.values()];
    if (held.length > 0) this.open.set(claim.claimId, held.length);
    for (const item of held) this.items.add(item);
    return held;
  }

  /** Ends items; answers the claims that have none left and can be deleted with the same write. */
  end(items: readonly HeldItem[]): string[] {
    const done: string[] = [];
    for (const item of items) {
      if (!this.items.delete(item)) continue;
      const left = (this.open.get(item.claimId) ?? 1) - 1;
      if (left > 0) this.open.set(item.claimId, left);
      else {
        this.open.delete(item.claimId);
        this.closing.add(item.claimId);
        done.push(item.claimId);
      }
    }
    return done;
  }

  /** The deletion of these claims is certain. */
  closed(claimIds: readonly string[]): void {
    for (const id of claimIds) this.closing.delete(id);
  }

  all(): HeldItem[] {
    return [...this.items];
  }

  /** The claims among these that this worker does not know of: their reply was lost. */
  unknown(claimIds: readonly string[]): string[] {
    return claimIds.filter((id) => !this.open.has(id) && !this.asked.has(id) && !this.closing.has(id));
  }

  has(item: HeldItem): boolean {
    return this.items.has(item);
  }

  /** Every held item of an execution: it may be run and looked at at the same time. */
  of(executionId: string): HeldItem[] {
    return [...this.items].filter((item) => item.id === executionId);
  }
}
