// Promises as ECMAScript defines them: their reactions, combinators and jobs, tick for tick.

import type { Frame } from './frame.js';
import { REACTION_BYTES } from './memory.js';
import { getProperty } from './properties.js';
import {
  ArrayObject,
  FULFILLED,
  HeapObject,
  isCallable,
  newProperties,
  PENDING,
  PlainObject,
  PromiseObject,
  REJECTED,
  type Value,
} from './values.js';
import type { Vm } from './vm.js';

/** What happens when a promise settles. Each one is a job of its own, in the order they were attached. */
export type Reaction = AwaitReaction | ThenReaction | FollowReaction | ElementReaction;

/** A branch that waits for the promise. */
export class AwaitReaction {
  constructor(readonly frame: Frame) {}
}

/** `then(onFulfilled, onRejected)`; a handler that is not a function passes the outcome through to `result`. */
export class ThenReaction {
  constructor(
    readonly onFulfilled: Value,
    readonly onRejected: Value,
    readonly result: PromiseObject,
  ) {}
}

/** Another promise was resolved with this one and takes over its outcome. */
export class FollowReaction {
  constructor(readonly follower: PromiseObject) {}
}

/** A member of `Promise.all` or another combinator. */
export class ElementReaction {
  constructor(
    readonly combinator: Combinator,
    readonly index: number,
  ) {}
}

/** The promise that a reaction settles; none when it is a member of a combinator that is decided. */
export function targetOf(reaction: Reaction): PromiseObject | null {
  if (reaction instanceof AwaitReaction) return reaction.frame.promise;
  if (reaction instanceof FollowReaction) return reaction.follower;
  if (reaction instanceof ThenReaction) return reaction.result;
  return reaction.combinator.done ? null : reaction.combinator.result;
}

export type CombinatorKind = 'all' | 'allSettled' | 'any' | 'race';

/** `Promise.all` or another combinator while members are pending. */
export class Combinator {
  /** Results (or, of `any`, reasons) so far. */
  values: Value[] = [];
  remaining = 1;
  /** Its result is decided: the members that are left cannot change anything. */
  done = false;
  constructor(
    readonly kind: CombinatorKind,
    readonly result: PromiseObject,
  ) {}
}

/** A pending durable call. */
export interface PendingCall {
  readonly id: number;
  readonly kind: 'task' | 'workflow' | 'timer' | 'wait';
  /** Task, workflow or signal name; of a timer the duration, for descriptions. */
  readonly name: string;
  /** Of a wait for a signal, when it has an end. */
  readonly timeoutMs?: number;
  /** Of a wait that lost: it has been reported that it takes no signals. */
  muted?: boolean;
}

/** A microtask. */
export type Job = ReactionJob | ThenableJob;

export class ReactionJob {
  constructor(
    readonly reaction: Reaction,
    readonly fulfilled: boolean,
    readonly value: Value,
  ) {}
}

/** Calls the `then` of what a promise was resolved with. */
export class ThenableJob {
  constructor(
    readonly promise: PromiseObject,
    readonly thenable: HeapObject,
    readonly then: Value,
  ) {}
}

/** The resolve function of a promise: adopts thenables, fulfils with everything else. */
export function resolvePromise(vm: Vm, promise: PromiseObject, resolution: Value): void {
  if (!(resolution instanceof HeapObject)) return fulfillPromise(vm, promise, resolution);
  if (resolution === promise) return rejectPromise(vm, promise, vm.newError('TypeError', 'Chaining cycle detected for promise'));
  const then = resolution instanceof PlainObject ? resolution.props.then : getProperty(vm, resolution, 'then');
  if (!isCallable(then)) return fulfillPromise(vm, promise, resolution);
  vm.enqueue(new ThenableJob(promise, resolution, then));
}

export function fulfillPromise(vm: Vm, promise: PromiseObject, value: Value): void {
  settle(vm, promise, FULFILLED, value);
}

export function rejectPromise(vm: Vm, promise: PromiseObject, reason: Value): void {
  if (!promise.handled) vm.unhandled.add(promise);
  settle(vm, promise, REJECTED, reason);
}

function settle(vm: Vm, promise: PromiseObject, state: typeof FULFILLED | typeof REJECTED, value: Value): void {
  const { reactions } = promise;
  promise.state = state;
  promise.value = value;
  promise.reactions = null;
  if (reactions) for (const reaction of reactions) vm.enqueue(new ReactionJob(reaction, state === FULFILLED, value));
}

/** PerformPromiseThen. */
export function react(vm: Vm, promise: PromiseObject, reaction: Reaction): void {
  if (promise.state === PENDING) {
    vm.chargeBytes(REACTION_BYTES);
    if (promise.reactions) promise.reactions.push(reaction);
    else promise.reactions = [reaction];
  } else {
    if (!promise.handled) vm.unhandled.delete(promise);
    vm.enqueue(new ReactionJob(reaction, promise.state === FULFILLED, promise.value));
  }
  promise.handled = true;
}

/** PromiseResolve: a promise is itself, anything else becomes a promise that is resolved with it. */
export function promiseOf(vm: Vm, value: Value): PromiseObject {
  if (value instanceof PromiseObject) return value;
  const promise = vm.newPromise();
  resolvePromise(vm, promise, value);
  return promise;
}

/** What a member's outcome does to its combinator. */
export function settleElement(vm: Vm, { combinator, index }: ElementReaction, fulfilled: boolean, value: Value): void {
  const { kind, result, values } = combinator;
  const collects = kind === 'allSettled' || fulfilled === (kind === 'all');
  if (kind === 'race' || !collects) {
    if (combinator.done) return;
    combinator.done = true;
    if (fulfilled) resolvePromise(vm, result, value);
    else rejectPromise(vm, result, value);
    return;
  }
  values[index] = kind === 'allSettled' ? settledRecord(vm, fulfilled, value) : value;
  releaseElement(vm, combinator);
}

/** One member fewer to wait for; the last one decides the result. */
export function releaseElement(vm: Vm, combinator: Combinator): void {
  combinator.remaining--;
  if (combinator.remaining > 0 || combinator.done || combinator.kind === 'race') return;
  combinator.done = true;
  const array = vm.newArray(combinator.values);
  if (combinator.kind !== 'any') return resolvePromise(vm, combinator.result, array);
  const error = vm.newError('AggregateError', 'All promises were rejected');
  error.hidden.errors = array;
  rejectPromise(vm, combinator.result, error);
}

function settledRecord(vm: Vm, fulfilled: boolean, value: Value): PlainObject {
  const props = newProperties();
  props.status = fulfilled ? 'fulfilled' : 'rejected';
  props[fulfilled ? 'value' : 'reason'] = value;
  return vm.newObject(props);
}

/** The flag that the two resolving functions of one promise share: set by the first call. */
export function newOnce(vm: Vm): ArrayObject {
  return vm.newArray([]);
}
