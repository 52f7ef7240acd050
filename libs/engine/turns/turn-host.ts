// What a turn gets from outside: the time, randomness, and the facts of its execution.

import type { FlowContext, FlowHost } from '../../flow/index.js';
import { rootOf } from '../../store/index.js';
import type { Runtime } from '../runtime.js';
import type { HeldItem } from '../work/held-work.js';

export class TurnHost implements FlowHost {
  constructor(
    private readonly item: HeldItem,
    private readonly runtime: Runtime,
  ) {}

  /** The database's time at the claim plus what has passed since, in milliseconds. */
  now(): number {
    return Math.floor(this.item.claimedAt + (this.runtime.monotonicNow() - this.item.claimedAtMonotonic));
  }

  random(): number {
    return this.runtime.random();
  }

  uuid(): string {
    return this.runtime.randomUuid();
  }
}

/** What a flow sees as `Context`. */
export function contextOf(item: HeldItem): FlowContext {
  return {
    executionId: item.id,
    rootId: rootOf(item.id),
    parentId: item.parentId,
    workflow: item.name,
    version: item.version ?? '',
    startedAt: item.createdAt ?? item.claimedAt,
    tags: item.tags ?? [],
  };
}
