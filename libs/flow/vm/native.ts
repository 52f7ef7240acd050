// How a built-in function is declared, and what the machine offers it while it runs.
//
// A family of built-ins is one file in libs/flow/builtins that exports a `BuiltinFamily`; builtins/index.ts exports them
// all as `FAMILIES`. The machine merges them (with its own Promise, Task, Workflow, Timer, Signal families) into one
// frozen table. Every function is one shared `NativeFunction`, so `[].map === [].map`, and snapshots store its name.
//
// PLAIN natives: `call(vm, receiver, args) → Value`. They run to the end on the host stack and never call flow code.
//   `args` holds exactly what was passed (read a missing one as `undefined`); it may be kept, but not changed.
//   Coercions (`vm.toString(v)`, `vm.toNumber(v)`, `vm.toPrimitive(v, hint)`…) are ordinary calls even though an object may
//   have a `toString` or `valueOf` written in Flow: the machine then leaves the native by a host exception, runs that
//   function as a frame, and calls the native AGAIN from its start with the result remembered. Hence two rules:
//   COERCE FIRST, CHANGE LATER: do every coercion before the first visible change, and never catch host exceptions.
//   READ BEFORE COERCING ONLY THROUGH `vm.atStart(number)`: the flow code may change what was read (the length of the array,
//   the time of the date), and the native must go on with what it read first. A native that reads between its coercions has
//   both `call` and `steps`: `call` is the fast path; as soon as it needs flow code, `steps` is run from the start instead.
//
// STEPPED natives: `*steps(vm, receiver, args)` for everything that takes callbacks. `yield call(fn, a, b)` runs any flow
//   or native function as a frame and returns its result; what it throws passes through the generator (do not catch it).
//   `const text = yield* vm.toStringSteps(v)` (and similar) are the coercions to use there. No stepped native is ever on the
//   stack at a snapshot: only async functions wait, and each has its own stack, so generators need not be stored.
//
//   What may take long is stepped too: `if (vm.isDue) yield PAUSE` in its loop ends the slice there and goes on in the next one.
//   A generator and its frame cost more than most calls. What is called often has a `call` besides, which returns LONG for more
//   than about a thousand elements.
//
// FUEL and BYTES: every native declares `cost`, charged before it runs: a number, or a function of receiver and args
//   (say `(r) => elementsOf(r)`) when the work grows with them; about one unit per element or per 16 characters touched.
//   In loops whose length is only known inside, call `vm.charge(units)`. New strings longer than a few characters and new
//   objects must be charged BEFORE they are made: `vm.newArray/newObject/newError/…` do it themselves;
//   for strings call `vm.chargeString(length)` first. Charging past a limit throws a LimitError that no flow can catch.
//
// ERRORS: `throw vm.error('TypeError', message)`. The message says what happened and names the thing.
//
// LOOKUP: `x.name` on a value is looked up in this order: own properties; what its class computes (`length`, `message`, …:
//   `members` of TypeTable); its methods; then the table of `object` (`toString`, `valueOf`, `hasOwnProperty`); a name listed as
//   `unsupported` is a TypeError that names it; anything else is `undefined`. Statics of constructors and namespaces
//   the same way. There is one `vm.getProperty` and one `vm.setProperty`; use them for every access by flow-visible key.
//
// NEVER let a host object out: return only Values, and keep host errors inside (they would be internal errors).

import { type ErrorKind } from '../error-kinds.js';
import type { Effect } from '../turn.js';
import {
  type ArrayObject,
  type DateObject,
  type ErrorObject,
  type HeapObject,
  type IteratorObject,
  type MapObject,
  NamespaceObject,
  NativeFunction,
  newProperties,
  type PlainObject,
  type Properties,
  type SetObject,
  type Value,
} from './values.js';

export type NativeCall = (vm: Machine, receiver: Value, args: readonly Value[]) => Value | typeof LONG;
export type NativeSteps = (vm: Machine, receiver: Value, args: readonly Value[]) => Steps<Value>;
/** A computation that may request function calls from the machine. */
export type Steps<T> = Generator<CallRequest | typeof PAUSE, T, Value>;
export type NativeCost = number | ((receiver: Value, args: readonly Value[]) => number);

export interface NativeDefinition {
  /** Unique, as a JavaScript programmer would write it: `Array.prototype.map`, `Math.max`, `parseInt`, `Map`. */
  readonly name: string;
  /** The value of `fn.name`; by default the part of `name` after the last dot. */
  readonly shortName?: string;
  /** The value of `fn.length`. */
  readonly length: number;
  readonly cost: NativeCost;
  /** One of `call` and `steps`, or both (see above and `LONG`); a constructor that must not be called without `new` has neither. */
  readonly call?: NativeCall;
  readonly steps?: NativeSteps;
  /** `new F(…)`: one of these or both, or the function is not a constructor. The receiver is `undefined`. */
  readonly construct?: NativeCall;
  readonly constructSteps?: NativeSteps;
  /** `x instanceof F`; absent means the right side is refused with a TypeError. */
  readonly hasInstance?: (value: Value) => boolean;
  /** Names that JavaScript has on this function and Flow does not: reading one is a TypeError that says so. */
  readonly unsupportedStatics?: readonly string[];
}

/** The values that methods are looked up on. `function` covers natives too; every error kind is `error`. */
export type TypeName =
  | 'object'
  | 'array'
  | 'string'
  | 'number'
  | 'boolean'
  | 'function'
  | 'error'
  | 'date'
  | 'map'
  | 'set'
  | 'iterator'
  | 'promise';

export interface TypeTable {
  /** Methods by name. */
  readonly methods: Readonly<Record<string, NativeFunction>>;
  /** Computed members that are not methods, e.g. `size` of a Map. (`length` of arrays and strings is the machine's own.) */
  readonly members?: Readonly<Record<string, (value: never) => Value>>;
  /** What JavaScript's prototype has and Flow does not: a TypeError that names it, never `undefined`. */
  readonly unsupported: readonly string[];
}

/** One file of built-ins. */
export interface BuiltinFamily {
  /** Global names: functions, constructors, namespaces, constants (`NaN`, `Infinity`, `undefined`). */
  readonly globals?: Readonly<Record<string, Value>>;
  /** Method tables; each type is given by exactly one family. */
  readonly types?: Readonly<Partial<Record<TypeName, TypeTable>>>;
}

/** Declares a built-in function (with its statics, when it is a constructor or `Promise`, `Object`, …). */
export function native(definition: NativeDefinition, statics: Record<string, Value> = {}): NativeFunction {
  return new NativeFunction(Object.freeze(definition), Object.assign(newProperties(), statics));
}

/** Declares a namespace: `namespace('Math', { max: native(…), PI: Math.PI }, ['f16round'])`. */
export function namespace(name: string, members: Record<string, Value>, unsupported: readonly string[] = []): NamespaceObject {
  return new NamespaceObject(name, Object.assign(newProperties(), members), unsupported);
}

/** A method table from a list of natives named `X.prototype.method`. */
export function methods(list: readonly NativeFunction[]): Record<string, NativeFunction> {
  const table: Record<string, NativeFunction> = Object.create(null);
  for (const each of list) table[shortName(each.definition)] = each;
  return Object.freeze(table);
}

export function shortName(definition: NativeDefinition): string {
  return definition.shortName ?? definition.name.slice(definition.name.lastIndexOf('.') + 1);
}

/** What a stepped native yields: a request to call this and send back the result. */
export interface CallRequest {
  readonly fn: Value;
  readonly args: readonly Value[];
  /** For natives that are methods. */
  readonly receiver?: Value;
}

/** `const result = yield call(fn, a, b)`. The caller checks that `fn` is callable (`vm.requireCallable`). */
export function call(fn: Value, ...args: Value[]): CallRequest {
  return { fn, args };
}

/** `if (vm.isDue) yield PAUSE`: lets other runs go on where a stepped native has used up its slice. */
export const PAUSE: unique symbol = Symbol('pause');

/** Returned by a `call` or `construct` that has done nothing yet, because it may take longer than a slice: the steps do it instead. */
export const LONG: unique symbol = Symbol('long');

/** Returned by `Machine.next` when an iterator is exhausted; never a flow value. */
export const DONE: unique symbol = Symbol('done');

export type PrimitiveHint = 'default' | 'number' | 'string';
export type Primitive = undefined | null | boolean | number | string;
export type LogLevel = Extract<Effect, { kind: 'log' }>['level'];

/** What a native can use. Implemented in vm/machine.ts. */
export interface Machine {
  // Limits ------------------------------------------------------------------------------------------------------------
  /** Charges fuel; call it before the work. */
  charge(units: number): void;
  /** The slice is used up: a stepped native yields PAUSE before it goes on. */
  readonly isDue: boolean;
  /** Charges heap bytes; call it before the allocation. */
  chargeBytes(bytes: number): void;
  /** Charges the fuel of looking up a key that is too long for V8 to hash well. */
  chargeKey(): void;
  /** Charges `left + right` by their lengths. */
  chargeJoined(left: number, right: number): void;
  /** Charges what reading one place of a string of this length may copy: see `chargeJoined`. */
  chargeRead(length: number): void;
  /** Charges the bytes and the fuel of a new string of this many UTF-16 units; a length no string may have is a RangeError. */
  chargeString(length: number): void;

  // Creating values (all charged) --------------------------------------------------------------------------------------
  /** Keeps the given host array as the elements: pass a fresh one. For big ones call `chargeElements` before building it. */
  newArray(elements: Value[]): ArrayObject;
  /** The bytes of `count` array elements, before a native builds a big host array (newArray then charges the header only). */
  chargeElements(count: number): void;
  newObject(props?: Properties): PlainObject;
  newMap(): MapObject;
  newSet(): SetObject;
  newDate(time: number): DateObject;
  newIterator(target: ArrayObject | MapObject | SetObject | string, mode: 'keys' | 'values' | 'entries'): IteratorObject;
  /** An error with the flow's current stack. Without a message it has no own `message`; `cause` only when options say so. */
  newError(kind: ErrorKind, message?: string, options?: { cause: Value }): ErrorObject;
  /** For `throw vm.error('TypeError', '…')`: wraps a new flow error into the host exception that carries it. */
  error(kind: ErrorKind, message: string): Error;
  /** For throwing an existing flow value: `throw vm.thrown(value)`. */
  thrown(value: Value): Error;

  // Properties --------------------------------------------------------------------------------------------------------
  /** `object[key]` for any value; throws a TypeError on `undefined` and `null`. Charges nothing. */
  getProperty(object: Value, key: string): Value;
  /** Strict-mode assignment: frozen, read-only and built-in targets are a TypeError. Charges growth. */
  setProperty(object: Value, key: string, value: Value): void;
  /** The same where the value may have to be converted by flow code (the length of an array). */
  setPropertySteps(object: Value, key: string, value: Value): Steps<void>;
  /** Defines an own enumerable property on a fresh object, without looking for read-only names. Charges growth. */
  defineProperty(object: HeapObject, key: string, value: Value): void;
  deleteProperty(object: Value, key: string): boolean;
  /** Own property, enumerable or not (`Object.hasOwn`). */
  hasOwn(object: Value, key: string): boolean;
  /** `key in object`. */
  hasProperty(object: HeapObject, key: string): boolean;
  /** Own enumerable string keys in JavaScript's order (`Object.keys`). Charges fuel by their number. */
  ownKeys(object: Value): string[];

  // Coercions for plain natives ---------------------------------------------------------------------------------------
  /** One number that a native reads before its first coercion: after flow code ran in between, it returns what was read first. */
  atStart(value: number): number;
  toPrimitive(value: Value, hint: PrimitiveHint): Primitive;
  toString(value: Value): string;
  toNumber(value: Value): number;
  /** ToIntegerOrInfinity. */
  toInteger(value: Value): number;
  toPropertyKey(value: Value): string;
  // The same for stepped natives: `yield* vm.toStringSteps(value)`.
  toPrimitiveSteps(value: Value, hint: PrimitiveHint): Steps<Primitive>;
  toStringSteps(value: Value): Steps<string>;
  toNumberSteps(value: Value): Steps<number>;
  toPropertyKeySteps(value: Value): Steps<string>;
  toIntegerSteps(value: Value): Steps<number>;

  /** Lets heap measurement see what a stepped native collects while it calls back. */
  hold(values: readonly Value[]): void;

  // Calls and iteration -----------------------------------------------------------------------------------------------
  /** Throws "… is not a function" unless the value can be called. */
  requireCallable(value: Value, what: string): void;
  /** The iterator that `for…of` would use; a TypeError when the value is not iterable. Iterators never call flow code. */
  iteratorOf(value: Value): IteratorObject;
  /** The next value, or DONE. Charges one unit. */
  next(iterator: IteratorObject): Value | typeof DONE;

  // Host --------------------------------------------------------------------------------------------------------------
  now(): number;
  random(): number;
  uuid(): string;
  log(level: LogLevel, message: string): void;
}
