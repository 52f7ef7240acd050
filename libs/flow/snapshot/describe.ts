// Describes where a suspended run is: every branch with its stack, its variables and what it waits for.

import type { Program } from '../compile/program.js';
import { showDuration } from '../duration.js';
import type { FlowContext } from '../turn.js';
import type { Frame } from '../vm/frame.js';
import { newVm } from '../vm/new-vm.js';
import { AwaitReaction, type Combinator, ElementReaction, targetOf } from '../vm/promise.js';
import { walk } from '../vm/reach.js';
import { positionAt } from '../vm/trace.js';
import { Cell, PromiseObject, UNINITIALIZED, type Value } from '../vm/values.js';
import { type DisplayJson, display } from './display.js';
import { readSnapshot } from './read.js';

/** Where a suspended run is. */
export interface RunDescription {
  /** The branches that wait, the main body's first. */
  branches: BranchDescription[];
  /** Every pending durable call, even those that no branch awaits at the moment. */
  pending: PendingDescription[];
}

/** One branch: the async function that waits and those that wait for it. */
export interface BranchDescription {
  /** Innermost first. */
  stack: FrameDescription[];
  /** For people: `signal "approval"`, `Promise.all: task "a", task "b"`. */
  waitsFor: string;
  /** The durable calls behind it. */
  calls: number[];
}

/** One function on the stack of a branch, at its await. */
export interface FrameDescription {
  function: string;
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** The variables that are still needed; the others are not stored. */
  locals: Record<string, DisplayJson>;
}

/** A pending durable call. */
export interface PendingDescription {
  id: number;
  kind: 'task' | 'workflow' | 'timer' | 'wait';
  name: string;
}

// A flow may nest and share without limit, and a description is for people.
const MAX_STACK = 1_000;
const MAX_PARTS = 20_000;
const MAX_DEPTH = 20;

const NONE_ENDED: ReadonlyMap<number, string> = new Map();
const NO_CONTEXT: FlowContext = { executionId: '', rootId: '', parentId: null, workflow: '', version: '', startedAt: 0, tags: [] };

/** Describes a snapshot; throws FlowSnapshotError when it is damaged. */
export function describe(program: Program, snapshot: string, ended: ReadonlyMap<number, string> = NONE_ENDED): RunDescription {
  const vm = newVm(program, { context: NO_CONTEXT });
  readSnapshot(vm, snapshot);
  const frames: Frame[] = [];
  const awaited = new Map<Frame, PromiseObject>();
  const members = new Map<Combinator, { index: number; promise: PromiseObject }[]>();
  const sources = new Map<PromiseObject, PromiseObject>();
  walk(vm.calls.promises(), {
    frame: (frame) => frames.push(frame),
    object(object) {
      if (!(object instanceof PromiseObject)) return;
      for (const reaction of object.reactions ?? []) {
        if (reaction instanceof AwaitReaction) awaited.set(reaction.frame, object);
        else if (reaction instanceof ElementReaction) {
          const member = { index: reaction.index, promise: object };
          const known = members.get(reaction.combinator);
          if (known) known.push(member);
          else members.set(reaction.combinator, [member]);
          continue;
        }
        const target = targetOf(reaction);
        if (target) sources.set(target, object);
      }
    },
  });
  const frameOf = new Map(frames.map((frame) => [frame.promise, frame]));
  for (const list of members.values()) list.sort((a, b) => a.index - b.index);
  const chains: Chains = { ended, combinatorOf: new Map([...members.keys()].map((each) => [each.result, each])), members, sources };
  const leaves = frames.filter((frame) => !frameOf.has(awaited.get(frame)!));
  const branches = leaves.map((leaf) => {
    const seen = new Set([leaf]);
    for (let caller = callerOf(leaf); caller && !seen.has(caller) && seen.size < MAX_STACK; caller = callerOf(caller)) seen.add(caller);
    const stack = [...seen];
    const wait = waitOf(awaited.get(leaf), chains);
    return {
      isMain: stack.some((frame) => frame.promise === vm.main),
      stack: stack.map((frame) => describeFrame(program, frame)),
      ...wait,
    };
  });
  branches.sort((a, b) => Number(b.isMain) - Number(a.isMain));
  return {
    branches: branches.map(({ stack, waitsFor, calls }) => ({ stack, waitsFor, calls })),
    pending: [...vm.calls.promises()].map(({ call }) => ({ id: call!.id, kind: call!.kind, name: call!.name })),
  };
}

/** The function that awaits this async function directly, if any. */
function callerOf(frame: Frame): Frame | undefined {
  return frame.promise?.reactions?.find((each): each is AwaitReaction => each instanceof AwaitReaction)?.frame;
}

/** How the pending promises of a run lead to each other. */
interface Chains {
  /** What has become of calls since the snapshot, by number. */
  ended: ReadonlyMap<number, string>;
  combinatorOf: ReadonlyMap<PromiseObject, Combinator>;
  members: ReadonlyMap<Combinator, readonly { promise: PromiseObject }[]>;
  /** The promise whose outcome settles another: by `then`, by resolving with it, or by an async function that awaits it. */
  sources: ReadonlyMap<PromiseObject, PromiseObject>;
}

function waitOf(
  promise: PromiseObject | undefined,
  chains: Chains,
  left = { parts: MAX_PARTS },
  depth = 0,
): { waitsFor: string; calls: number[] } {
  if (--left.parts < 0 || depth > MAX_DEPTH) return { waitsFor: '…', calls: [] };
  if (promise?.call) {
    const { kind, name, id, muted } = promise.call;
    // It can only time out or be cancelled.
    const lost = muted ? ' (which it no longer takes: its race is decided)' : '';
    return {
      waitsFor:
        kind === 'wait'
          ? `signal "${name}"${lost}`
          : kind === 'timer'
            ? `timer ${name.replace(/^(\d+) ms$/, (_, ms) => showDuration(Number(ms)))}`
            : `${kind} "${name}"${chains.ended.has(id) ? ` (has ${chains.ended.get(id)})` : ''}`,
      calls: [id],
    };
  }
  const combinator = promise && chains.combinatorOf.get(promise);
  if (!combinator) {
    const source = promise && chains.sources.get(promise);
    return source ? waitOf(source, chains, left, depth + 1) : { waitsFor: 'a promise', calls: [] };
  }
  const parts = (chains.members.get(combinator) ?? []).map((each) => waitOf(each.promise, chains, left, depth + 1));
  const shown = parts.slice(0, 5).map(({ waitsFor }) => waitsFor);
  if (parts.length > shown.length) shown.push(`and ${parts.length - shown.length} more`);
  return { waitsFor: `Promise.${combinator.kind}: ${shown.join(', ')}`, calls: parts.flatMap(({ calls }) => calls) };
}

function describeFrame(program: Program, frame: Frame): FrameDescription {
  const { code, ip, registers, cells } = frame;
  const live = code.live.find((each) => each.at === ip)!;
  const locals: Record<string, DisplayJson> = Object.create(null);
  // Inner scopes end first and come first: the first entry of a name is the one that is visible.
  for (const { name, at, from, to } of code.locals) {
    if (ip < from || ip > to || name in locals || (at >= 0 && !live.slots.includes(at))) continue;
    const register = at >= 0 ? registers[at] : cells[~at];
    const value = register instanceof Cell ? register.value : register;
    if (value !== UNINITIALIZED) locals[name] = display(value as Value);
  }
  return { function: code.name || '<anonymous>', file: program.file, ...positionAt(code, ip), locals };
}
