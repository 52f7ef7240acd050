// How the allow-list of a process changes the stored one of a version.

import { type FlowAllowList, intersectAllowLists } from '../../libs/flow/index.js';
import type { AllowListState } from '../../libs/store/index.js';

/**
 * At boot: a list that the version never had replaces the stored one; a list that it had before can only narrow it. So a
 * process of an earlier deploy that starts again widens nothing. Returns undefined when nothing changes.
 */
export function changeOnBoot(state: AllowListState, own: FlowAllowList | undefined): AllowListState | undefined {
  if (!hasSeen(state, own)) return replaceStored(state, own);
  const allow = intersectAllowLists(state.allow, own);
  return isSame(allow, state.allow) ? undefined : { ...state, allow };
}

/** At `activate`: the list of this process becomes the stored one, wider or not. */
export function replaceStored(state: AllowListState, own: FlowAllowList | undefined): AllowListState {
  const allow = intersectAllowLists(own);
  return { ...state, allow, seen: hasSeen(state, own) ? state.seen : [...state.seen, allow] };
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

function hasSeen({ seen }: AllowListState, own: FlowAllowList | undefined): boolean {
  return seen.some((each) => isSame(each, own));
}

function isSame(one: FlowAllowList, other: FlowAllowList | undefined): boolean {
  return JSON.stringify(intersectAllowLists(one)) === JSON.stringify(intersectAllowLists(other));
}
