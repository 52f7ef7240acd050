// Combines allow-lists: what several of them allow together.

import type { FlowAllowList } from './turn.js';

const KINDS = ['tasks', 'workflows', 'queues'] as const;

/**
 * The names that each of the given lists allows. The result has one form for one meaning (names sorted, none twice), so two
 * of them are equal when their JSON texts are.
 */
export function intersectAllowLists(...lists: readonly (FlowAllowList | null | undefined)[]): FlowAllowList {
  const common: { -readonly [Kind in keyof FlowAllowList]: FlowAllowList[Kind] } = {};
  for (const kind of KINDS) {
    const bounds = lists.flatMap((list) => (list?.[kind] === undefined ? [] : [new Set(list[kind])]));
    const [first, ...others] = bounds;
    if (first) common[kind] = [...first].filter((name) => others.every((other) => other.has(name))).sort();
  }
  return common;
}
