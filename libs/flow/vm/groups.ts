// Resume groups: durable calls whose only reaction is one combinator, so that none of them can move the run alone.

import type { ResumeGroup } from '../turn.js';
import { type Combinator, ElementReaction } from './promise.js';
import type { Vm } from './vm.js';

/** A hint when to wake a suspended run; leaving a call out of every group only costs a turn. */
export function resumeGroups(vm: Vm): ResumeGroup[] {
  if (vm.calls.pending.size < 2) return [];
  const groups = new Map<Combinator, number[]>();
  for (const promise of vm.calls.pending.values()) {
    const { kind, id } = promise.call!;
    if ((kind !== 'task' && kind !== 'workflow') || promise.reactions?.length !== 1) continue;
    const [reaction] = promise.reactions;
    if (!(reaction instanceof ElementReaction) || reaction.combinator.done) continue;
    if (reaction.combinator.kind !== 'all' && reaction.combinator.kind !== 'allSettled') continue;
    const members = groups.get(reaction.combinator);
    if (members) members.push(id);
    else groups.set(reaction.combinator, [id]);
  }
  const result: ResumeGroup[] = [];
  for (const [{ kind }, members] of groups) {
    if (members.length > 1) result.push({ members, until: kind === 'all' ? 'all' : 'settled' });
  }
  return result;
}
