// Decides whether the outcome of a durable call that lost could be observed.

import { innermostHandler } from '../compile/liveness.js';
import { AwaitReaction, ElementReaction, FollowReaction, type Reaction, targetOf } from './promise.js';
import { BoundNative, FunctionObject, type PromiseObject, type Value } from './values.js';

const FULFILLED = 1;
const REJECTED = 2;
const EITHER = FULFILLED | REJECTED;

/**
 * True when all that follows only reads and builds values. A wait that lost takes no signals: it can only be rejected, by its
 * timeout or a cancel. A timer can be fulfilled too.
 */
export function isInert(lost: PromiseObject): boolean {
  const known = new Map<PromiseObject, number>();
  const work: { promise: PromiseObject; outcomes: number }[] = [];
  const arrive = (promise: PromiseObject, outcomes: number) => {
    const before = known.get(promise) ?? 0;
    if ((before | outcomes) === before) return;
    known.set(promise, before | outcomes);
    work.push({ promise, outcomes });
  };
  arrive(lost, lost.call!.kind === 'wait' ? REJECTED : EITHER);
  for (let next = work.pop(); next; next = work.pop()) {
    for (const reaction of next.promise.reactions ?? []) {
      const target = targetOf(reaction);
      if (target === null) continue;
      const outcomes = through(reaction, next.outcomes);
      if (outcomes === undefined) return false;
      arrive(target, outcomes);
    }
  }
  return true;
}

/** How the promise that a reaction settles may end, or undefined when its code is not inert. */
function through(reaction: Reaction, outcomes: number): number | undefined {
  if (reaction instanceof FollowReaction) return outcomes;
  if (reaction instanceof ElementReaction) return EITHER;
  if (reaction instanceof AwaitReaction) {
    const { code, ip } = reaction.frame;
    if (code.live.find((each) => each.at === ip)?.inert) return EITHER;
    // A rejection that the function does not catch passes through it.
    return outcomes === REJECTED && innermostHandler(code, ip - 1) < 0 ? REJECTED : undefined;
  }
  let result = 0;
  for (const outcome of [FULFILLED, REJECTED]) {
    if ((outcomes & outcome) === 0) continue;
    const handler = outcome === FULFILLED ? reaction.onFulfilled : reaction.onRejected;
    if (handler !== undefined && !isInertHandler(handler)) return undefined;
    result |= handler === undefined ? outcome : EITHER;
  }
  return result;
}

function isInertHandler(handler: Value): boolean {
  if (handler instanceof FunctionObject) return handler.code.inert === true;
  if (!(handler instanceof BoundNative)) return false;
  const { name } = handler.definition;
  // What `finally` makes: it calls the function it is bound to, or passes a value on.
  if (name === 'Promise.finallyPass' || name === 'Promise.finallyFail') return isInertHandler(handler.bound[0]);
  return name === 'Promise.giveValue' || name === 'Promise.throwValue';
}
