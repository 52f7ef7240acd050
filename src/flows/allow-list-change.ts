// How what a process declares for a version, its allow-list and its isolation, changes what is stored.

import { type FlowAllowList, intersectAllowLists } from '../../libs/flow/index.js';
import { type AllowListState, type Declaration, declarationOf } from '../../libs/store/index.js';

/** What a process declares. */
export interface Declared {
  allow: FlowAllowList | undefined;
  isolate: boolean;
}

/**
 * At boot: a declaration that the version never had replaces what is stored; one that it had before can only narrow the list and ask for
 * isolation. So a process of an earlier deploy that starts again widens nothing. Returns undefined when nothing changes.
 */
export function changeOnBoot(state: AllowListState, own: Declared): AllowListState | undefined {
  if (!hasSeen(state, own)) return replaceStored(state, own);
  const allow = intersectAllowLists(state.allow, own.allow);
  const isolate = state.isolate || own.isolate;
  return isSame(declarationOf(allow, isolate), declarationOf(state.allow, state.isolate)) ? undefined : { ...state, allow, isolate };
}

/** At `activate`: what this process declares is stored, wider or not. */
export function replaceStored(state: AllowListState, own: Declared): AllowListState {
  const allow = intersectAllowLists(own.allow);
  const { isolate } = own;
  return { ...state, allow, isolate, seen: hasSeen(state, own) ? state.seen : [...state.seen, declarationOf(allow, isolate)] };
}

/** Whether the stored list refuses names that this process would allow. */
export function isNarrower(stored: FlowAllowList, own: FlowAllowList | undefined): boolean {
  return !isSame(intersectAllowLists(stored, own), intersectAllowLists(own));
}

/** The list for people: `tasks: mail; queues: none`; an empty string when every name is allowed. */
export function showAllowList(allow: FlowAllowList): string {
  return (['tasks', 'workflows', 'queues'] as const)
    .flatMap((kind) => (allow[kind] ? [`${kind}: ${allow[kind].join(', ') || 'none'}`] : []))
    .join('; ');
}

function hasSeen({ seen }: AllowListState, own: Declared): boolean {
  const declared = declarationOf(own.allow ?? {}, own.isolate);
  return seen.some((each) => isSame(each, declared));
}

function isSame(one: Declaration, other: Declaration): boolean {
  const textOf = (each: Declaration) => JSON.stringify([intersectAllowLists(each), each.isolate === true]);
  return textOf(one) === textOf(other);
}
