// What a suspended run waits for, by the places of its source at which it does: read from the VM in memory, not from its stored state.

import type { WaitingPlace } from '../turn.js';
import type { Frame } from './frame.js';
import { AwaitReaction, type PendingCall, targetOf } from './promise.js';
import { positionAt } from './trace.js';
import type { PromiseObject } from './values.js';

/** A flow may chain promises without limit, and this is for people. */
const MOST_HOPS = 100;
/** Of a function's name, which may be as long as the source. */
const LONGEST_FUNCTION = 200;

/**
 * The pending calls of a run that something awaits, those of one kind, name and place together, in the order of their numbers; at most
 * `most` of them. If nothing awaits any of them directly (a function resolves what is awaited), all of them, without a place. A wait
 * that takes no signal any more is the timer of its timeout.
 */
export function waitingPlaces(pending: Iterable<PromiseObject>, most: number): WaitingPlace[] {
  const places = new Places(most);
  const left: PendingCall[] = [];
  for (const promise of pending) {
    const call = promise.call!;
    // Its race is decided, and it has no timeout: nothing comes of it.
    if (call.muted && call.timeoutMs === undefined) continue;
    const frame = places.frameOf(promise);
    if (frame) places.add(call, frame);
    else left.push(call);
  }
  if (places.isEmpty) for (const call of left) places.add(call, null);
  return places.list();
}

class Places {
  private readonly found = new Map<string, { -readonly [Name in keyof WaitingPlace]: WaitingPlace[Name] }>();
  /** Of each promise that was looked at, the frame that waits for it; a fan-out leads to one promise many times. */
  private readonly frames = new Map<PromiseObject, Frame | null>();

  constructor(private readonly most: number) {}

  get isEmpty(): boolean {
    return this.found.size === 0;
  }

  list(): WaitingPlace[] {
    return [...this.found.values()];
  }

  add(call: PendingCall, frame: Frame | null): void {
    const { kind, name } = nameOf(call);
    const line = frame && positionAt(frame.code, frame.ip).line;
    const key = `${kind} ${line} ${frame?.code.index} ${name}`;
    const known = this.found.get(key);
    if (known) known.calls++;
    else if (this.found.size < this.most) {
      this.found.set(key, { kind, name, line, function: frame && (frame.code.name.slice(0, LONGEST_FUNCTION) || '<anonymous>'), calls: 1 });
    }
  }

  /** The function that waits for the outcome, directly or through `then`, a combinator or another promise. */
  frameOf(promise: PromiseObject, hops = MOST_HOPS): Frame | null {
    if (promise.reactions === null || hops === 0) return null;
    const known = this.frames.get(promise);
    if (known !== undefined) return known;
    // A cycle of promises ends here.
    this.frames.set(promise, null);
    let found: Frame | null = null;
    for (const reaction of promise.reactions) {
      if (reaction instanceof AwaitReaction) found = reaction.frame;
      else {
        const target = targetOf(reaction);
        found = target && this.frameOf(target, hops - 1);
      }
      if (found) break;
    }
    this.frames.set(promise, found);
    return found;
  }
}

function nameOf({ kind, name, muted }: PendingCall): Pick<WaitingPlace, 'kind' | 'name'> {
  if (kind === 'wait' && !muted) return { kind: 'signal', name };
  if (kind === 'task') return { kind, name };
  if (kind === 'workflow') return { kind: 'child', name };
  return { kind: 'timer', name: '' };
}
