// What events contain about an execution and its error, taken from a claimed item and from what is stored.

import type { ErrorFacts, ExecutionFacts } from './engine-events.js';
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

/** What events contain of an error, from its JSON text. */
export function errorFacts(text: string | undefined): ErrorFacts {
  const { name = 'Error', message = '', code } = JSON.parse(text ?? '{}') as Partial<ErrorFacts>;
  return { name, message, ...(code === undefined ? {} : { code }) };
}
