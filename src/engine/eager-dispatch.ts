// Eager dispatch: children that their own worker can run now are born claimed, and never pass through the queue.

import {
  bucketOfRelative,
  type ClaimedItem,
  type CommitOutcome,
  type EagerClaim,
  type NewExecution,
  newId,
  type TurnCommit,
} from '../../libs/store/index.js';
import type { HeldItem } from './held-work.js';
import type { Workplace } from './workplace.js';

export class EagerDispatch {
  /** Children of the commit in flight that did not pass through the queue. */
  private readonly born = new Set<string>();

  constructor(
    private readonly place: Workplace,
    private readonly perform: (item: HeldItem) => void,
  ) {}

  /** Only while the queues are empty (nobody is overtaken), for tasks that this worker serves, knows and has room for. */
  choose(turns: readonly TurnCommit[]): EagerClaim | undefined {
    const { place } = this;
    if (!place.loops.claims.short || place.closing) return undefined;
    const { options, tasks } = place.parts;
    let room = place.taskRoom();
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
    const claimId = newId();
    place.held.ask(claimId);
    place.reserved += ids.length;
    return { claimId, ids };
  }

  /** The chosen children of the turns that won are ours. */
  taken({ claimId, ids }: EagerClaim, turns: readonly TurnCommit[], { turns: won, fence }: CommitOutcome): void {
    const { place } = this;
    const chosen = new Set(ids);
    const children: ClaimedItem[] = [];
    turns.forEach((turn, n) => {
      if (won[n]) for (const child of turn.children) if (chosen.has(child.id)) children.push(claimedChild(child, turn, fence));
    });
    const claim = { claimId, items: children, now: place.now() };
    const items = place.held.take(claim);
    for (const item of items) this.born.add(item.id);
    // After the turn is known to be written, and its run is back in the cache: the child's end is then a fused step.
    setImmediate(() => {
      place.reserved -= ids.length;
      for (const item of items) this.perform(item);
      // Children of turns that lost are not ours.
      place.loops.claims.roomFreed();
    });
  }

  /** The commit's outcome is unknown: if the children are ours, they are found among our claims and given back. */
  doubt({ claimId, ids }: EagerClaim): void {
    this.place.reserved -= ids.length;
    this.place.held.unanswered(claimId);
    this.place.loops.heart.doubt();
  }

  /** True when the child is in nobody's queue; asked once, after the commit. */
  isTaken(childId: string): boolean {
    return this.born.delete(childId);
  }
}

// A child that was born claimed, as a claim would have brought it.
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
