// What events contain about an execution, taken from a claimed item.

import type { ExecutionFacts } from './engine-events.js';
import type { HeldItem } from './work/held-work.js';

export function factsOf(item: HeldItem): ExecutionFacts {
  return {
    executionId: item.id,
    name: item.name,
    kind: item.type,
    queue: item.queue,
    version: item.version,
    parentId: item.parentId,
  };
}
