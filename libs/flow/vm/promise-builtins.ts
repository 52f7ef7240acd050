// Promise, its combinators and its methods.

import { FlowThrow } from './exceptions.js';
import { type BuiltinFamily, call, DONE, LONG, type Machine, methods, type NativeDefinition, native, PAUSE, type Steps } from './native.js';
import {
  Combinator,
  type CombinatorKind,
  ElementReaction,
  newOnce,
  promiseOf,
  react,
  rejectPromise,
  releaseElement,
  resolvePromise,
  ThenReaction,
} from './promise.js';
import { isLongWalk } from './properties.js';
import { type ArrayObject, BoundNative, isCallable, type NativeFunction, newProperties, PromiseObject, type Value } from './values.js';
import type { Vm } from './vm.js';

function requirePromise(vm: Machine, receiver: Value, method: string): PromiseObject {
  if (receiver instanceof PromiseObject) return receiver;
  throw vm.error('TypeError', `Promise.prototype.${method} was called on something that is not a promise`);
}

/** `then` without the look-up: attaches the handlers and returns the derived promise. */
function chain(vm: Vm, promise: PromiseObject, onFulfilled: Value, onRejected: Value): PromiseObject {
  const result = vm.newPromise();
  react(
    vm,
    promise,
    new ThenReaction(isCallable(onFulfilled) ? onFulfilled : undefined, isCallable(onRejected) ? onRejected : undefined, result),
  );
  return result;
}

const then = native({
  name: 'Promise.prototype.then',
  length: 2,
  cost: 4,
  call: (vm, receiver, [onFulfilled, onRejected]) => chain(vm as Vm, requirePromise(vm, receiver, 'then'), onFulfilled, onRejected),
});

const catchMethod = native({
  name: 'Promise.prototype.catch',
  length: 1,
  cost: 4,
  call: (vm, receiver, [onRejected]) => chain(vm as Vm, requirePromise(vm, receiver, 'catch'), undefined, onRejected),
});

const finallyMethod = native({
  name: 'Promise.prototype.finally',
  length: 1,
  cost: 6,
  call(vm, receiver, [onFinally]) {
    const promise = requirePromise(vm, receiver, 'finally');
    if (!isCallable(onFinally)) return chain(vm as Vm, promise, onFinally, onFinally);
    vm.chargeBytes(128);
    return chain(vm as Vm, promise, new BoundNative(FINALLY_PASS, [onFinally]), new BoundNative(FINALLY_FAIL, [onFinally]));
  },
});

/** `handle.cancel()` of a durable call: requests that a task or child stops; a timer or wait ends at once. */
const cancelMethod = native({
  name: 'Promise.prototype.cancel',
  length: 0,
  cost: 4,
  call(vm, receiver) {
    (vm as Vm).cancelCall(requirePromise(vm, receiver, 'cancel'));
    return undefined;
  },
});

// Functions made at run time --------------------------------------------------------------------------------------------

function boundOf(receiver: Value): Value[] {
  return (receiver as BoundNative).bound;
}

function* afterFinally(vm: Machine, receiver: Value, outcome: Value, next: NativeDefinition): Steps<Value> {
  const result = yield call(boundOf(receiver)[0]);
  const promise = promiseOf(vm as Vm, result);
  return chain(vm as Vm, promise, new BoundNative(next, [outcome]), undefined);
}

const FINALLY_PASS: NativeDefinition = {
  name: 'Promise.finallyPass',
  shortName: '',
  length: 1,
  cost: 6,
  steps: (vm, receiver, [value]) => afterFinally(vm, receiver, value, GIVE_VALUE),
};
const FINALLY_FAIL: NativeDefinition = {
  name: 'Promise.finallyFail',
  shortName: '',
  length: 1,
  cost: 6,
  steps: (vm, receiver, [reason]) => afterFinally(vm, receiver, reason, THROW_VALUE),
};
const GIVE_VALUE: NativeDefinition = {
  name: 'Promise.giveValue',
  shortName: '',
  length: 0,
  cost: 1,
  call: (_vm, receiver) => boundOf(receiver)[0],
};
const THROW_VALUE: NativeDefinition = {
  name: 'Promise.throwValue',
  shortName: '',
  length: 0,
  cost: 1,
  call(vm, receiver) {
    throw vm.thrown(boundOf(receiver)[0]);
  },
};

/** The first of the two resolving functions that is called decides; later calls do nothing. */
function first(receiver: Value): PromiseObject | undefined {
  const [promise, once] = boundOf(receiver) as [PromiseObject, ArrayObject];
  if (once.elements.length > 0) return undefined;
  once.elements.push(true);
  return promise;
}
const RESOLVE: NativeDefinition = {
  name: 'Promise.resolveFunction',
  shortName: '',
  length: 1,
  cost: 4,
  call(vm, receiver, [value]) {
    const promise = first(receiver);
    if (promise) resolvePromise(vm as Vm, promise, value);
    return undefined;
  },
};
const REJECT: NativeDefinition = {
  name: 'Promise.rejectFunction',
  shortName: '',
  length: 1,
  cost: 4,
  call(vm, receiver, [reason]) {
    const promise = first(receiver);
    if (promise) rejectPromise(vm as Vm, promise, reason);
    return undefined;
  },
};

/** Only handles of durable calls have these; snapshots find them here. */
export const HANDLE_METHODS = [cancelMethod];

export const BOUND_NATIVES: readonly NativeDefinition[] = [FINALLY_PASS, FINALLY_FAIL, GIVE_VALUE, THROW_VALUE, RESOLVE, REJECT];

export function resolvingFunctions(vm: Vm, promise: PromiseObject): { resolve: BoundNative; reject: BoundNative } {
  const once = newOnce(vm);
  vm.chargeBytes(128);
  return { resolve: new BoundNative(RESOLVE, [promise, once]), reject: new BoundNative(REJECT, [promise, once]) };
}

// The constructor and its statics ---------------------------------------------------------------------------------------

function* construct(vm: Machine, _receiver: Value, [executor]: readonly Value[]): Steps<Value> {
  vm.requireCallable(executor, 'The executor of a promise');
  const promise = (vm as Vm).newPromise();
  const { resolve, reject } = resolvingFunctions(vm as Vm, promise);
  try {
    yield call(executor, resolve, reject);
  } catch (error) {
    // What the executor throws rejects the promise; limits pass through.
    if (!(error instanceof FlowThrow)) throw error;
    const open = first(reject);
    if (open) rejectPromise(vm as Vm, open, error.value);
  }
  return promise;
}

/** Statics of Promise are methods of the constructor: `const all = Promise.all; all([])` is a TypeError in JavaScript. */
function requireConstructor(vm: Machine, receiver: Value, method: string): void {
  if (receiver !== PROMISE && receiver !== (vm as Vm).taskNamespace)
    throw vm.error('TypeError', `Promise.${method} was called without Promise before the dot`);
}

export function combine(kind: CombinatorKind): Pick<NativeDefinition, 'call' | 'steps'> {
  return {
    call(machine, receiver, [iterable]) {
      if (isLongWalk(iterable)) return LONG;
      const vm = machine as Vm;
      requireConstructor(vm, receiver, kind);
      const combinator = new Combinator(kind, vm.newPromise());
      try {
        const iterator = vm.iteratorOf(iterable);
        let index = 0;
        for (let value = vm.next(iterator); value !== DONE; value = vm.next(iterator)) addElement(vm, combinator, value, index++);
        releaseElement(vm, combinator);
      } catch (error) {
        failCombinator(vm, combinator, error);
      }
      return combinator.result;
    },
    *steps(machine, receiver, [iterable]) {
      const vm = machine as Vm;
      requireConstructor(vm, receiver, kind);
      const combinator = new Combinator(kind, vm.newPromise());
      try {
        const iterator = vm.iteratorOf(iterable);
        let index = 0;
        for (let value = vm.next(iterator); value !== DONE; value = vm.next(iterator)) {
          addElement(vm, combinator, value, index++);
          if (vm.isDue) yield PAUSE;
        }
        releaseElement(vm, combinator);
      } catch (error) {
        failCombinator(vm, combinator, error);
      }
      return combinator.result;
    },
  };
}

function addElement(vm: Vm, combinator: Combinator, value: Value, index: number): void {
  vm.chargeBytes(64);
  combinator.remaining++;
  if (combinator.kind !== 'race') combinator.values[index] = undefined;
  react(vm, promiseOf(vm, value), new ElementReaction(combinator, index));
}

function failCombinator(vm: Vm, combinator: Combinator, error: unknown): void {
  if (!(error instanceof FlowThrow)) throw error;
  combinator.done = true;
  rejectPromise(vm, combinator.result, error.value);
}

/** A combinator under its name; `Task.all` and others are the same functions under other names. */
export function combinatorNative(name: string, kind: CombinatorKind): NativeFunction {
  return native({ name, length: 1, cost: 8, ...combine(kind) });
}

function* tryCall(machine: Machine, receiver: Value, [callback, ...args]: readonly Value[]): Steps<Value> {
  const vm = machine as Vm;
  requireConstructor(vm, receiver, 'try');
  const promise = vm.newPromise();
  try {
    resolvePromise(vm, promise, yield call(callback, ...args));
  } catch (error) {
    if (!(error instanceof FlowThrow)) throw error;
    rejectPromise(vm, promise, error.value);
  }
  return promise;
}

const PROMISE: NativeFunction = native(
  {
    name: 'Promise',
    length: 1,
    cost: 8,
    constructSteps: construct,
    hasInstance: (value) => value instanceof PromiseObject,
  },
  {
    all: combinatorNative('Promise.all', 'all'),
    allSettled: combinatorNative('Promise.allSettled', 'allSettled'),
    any: combinatorNative('Promise.any', 'any'),
    race: combinatorNative('Promise.race', 'race'),
    resolve: native({
      name: 'Promise.resolve',
      length: 1,
      cost: 4,
      call(vm, receiver, [value]) {
        requireConstructor(vm, receiver, 'resolve');
        return promiseOf(vm as Vm, value);
      },
    }),
    reject: native({
      name: 'Promise.reject',
      length: 1,
      cost: 4,
      call(vm, receiver, [reason]) {
        requireConstructor(vm, receiver, 'reject');
        const promise = (vm as Vm).newPromise();
        rejectPromise(vm as Vm, promise, reason);
        return promise;
      },
    }),
    withResolvers: native({
      name: 'Promise.withResolvers',
      length: 0,
      cost: 8,
      call(vm, receiver) {
        requireConstructor(vm, receiver, 'withResolvers');
        const promise = (vm as Vm).newPromise();
        const { resolve, reject } = resolvingFunctions(vm as Vm, promise);
        return vm.newObject(Object.assign(newProperties(), { promise, resolve, reject }));
      },
    }),
    try: native({ name: 'Promise.try', length: 1, cost: 8, steps: tryCall }),
  },
);

export const PROMISE_FAMILY: BuiltinFamily = {
  globals: { Promise: PROMISE },
  types: {
    promise: {
      methods: methods([then, catchMethod, finallyMethod]),
      members: { cancel: (promise: PromiseObject) => (promise.durable ? cancelMethod : undefined) },
      unsupported: [],
    },
  },
};
