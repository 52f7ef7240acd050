// How the values of a flow are represented: host primitives for primitives, and these few classes for everything on the heap.
//
// A flow value is `undefined | null | boolean | number | string | HeapObject` and nothing else. No heap object has a
// flow-visible prototype: methods are found by the class of the value in the frozen built-in table (native.ts). Own
// properties live in null-prototype host objects, which keep JavaScript's key order and make every name plain data.

import type { FunctionCode } from '../compile/program.js';
import type { ErrorKind } from '../error-kinds.js';
import { indexKey } from './index-key.js';
import type { NativeDefinition } from './native.js';
import type { PendingCall, Reaction } from './promise.js';

export type Value = undefined | null | boolean | number | string | HeapObject;

/** Own properties: a host object without prototype, so `constructor` and `__proto__` are names like any other. */
export type Properties = Record<string, Value>;

// A literal with a null prototype starts as a fast-mode object in V8; `Object.create(null)` starts as a dictionary.
export function newProperties(): Properties {
  return { __proto__: null } as unknown as Properties;
}

/** Anything with identity. `props` are the own enumerable properties (null until the first one is set). */
export abstract class HeapObject {
  props: Properties | null = null;
  /** At least as many as there are properties that were not written by an object literal (see `addProperty`); -1 when it is frozen. */
  added = 0;
  get frozen(): boolean {
    return this.added < 0;
  }
  freeze(): void {
    this.added = -1;
  }
}

/** `{}`: the only class whose `props` are never null. */
export class PlainObject extends HeapObject {
  declare props: Properties;
  constructor(props: Properties) {
    super();
    this.props = props;
  }
}

/** Elements are a host array; a hole is a host hole (`i in elements` is false and a read gives `undefined`). */
export class ArrayObject extends HeapObject {
  constructor(readonly elements: Value[]) {
    super();
  }
}

/** A variable that a closure captured. `value` is UNINITIALIZED inside its temporal dead zone. */
export class Cell {
  constructor(public value: Value | typeof UNINITIALIZED) {}
}

/** Marks a `let`/`const` before its declaration ran; never a flow value. */
export const UNINITIALIZED: unique symbol = Symbol('uninitialized');

/** A function of the program with the variables it captured. */
export class FunctionObject extends HeapObject {
  constructor(
    readonly code: FunctionCode,
    readonly cells: readonly Cell[],
    /** Given by the place that created it (`const f = () => …`), when the function has no name of its own. */
    readonly givenName: string | null = null,
  ) {
    super();
  }
}

/** A built-in function: immutable, shared by all runs, stored in snapshots by its name. */
export class NativeFunction extends HeapObject {
  /** `Object.keys`, `Promise.all`…: members of a constructor function. */
  readonly statics: Readonly<Properties>;
  constructor(
    readonly definition: NativeDefinition,
    statics: Properties = newProperties(),
  ) {
    super();
    this.statics = Object.freeze(statics);
  }
}

/** A built-in function made at run time over flow values (the resolving functions of a promise). */
export class BoundNative extends HeapObject {
  constructor(
    readonly definition: NativeDefinition,
    readonly bound: Value[],
  ) {
    super();
  }
}

/** `Math`, `JSON`, `Task`, `console`…: immutable, shared by all runs, stored by its name. */
export class NamespaceObject extends HeapObject {
  constructor(
    readonly name: string,
    readonly members: Readonly<Properties>,
    /** What the JavaScript object of that name has and Flow does not. */
    readonly unsupported: readonly string[] = [],
  ) {
    super();
    Object.freeze(members);
  }
}

/**
 * An error. `hidden` holds its own non-enumerable properties (`message`, `cause`, `errors`), `props` the enumerable
 * ones (`code`, `data`, `attempts` and whatever the flow assigns). `trace` is the flow's stack at construction:
 * pairs of function index and instruction pointer, rendered when `stack` is read.
 */
export class ErrorObject extends HeapObject {
  stack: string | null = null;
  constructor(
    readonly errorKind: ErrorKind,
    readonly hidden: Properties,
    readonly trace: readonly number[],
  ) {
    super();
  }
}

export class DateObject extends HeapObject {
  /** Milliseconds since the epoch; NaN for an invalid date. */
  constructor(public time: number) {
    super();
  }
}

/** Marks a deleted entry of a Map or Set; never a flow value. */
export const TOMBSTONE: unique symbol = Symbol('tombstone');

/**
 * The entries of a Map (`values` used) or Set (`values` empty) in insertion order, with tombstones for the deleted.
 * Entries carry ascending numbers: an iterator remembers the number it visits next, so compaction cannot disturb it.
 */
export abstract class CollectionObject extends HeapObject {
  /** `indexKey` of a key → its position in `keys`. */
  private readonly index = new Map<unknown, number>();
  keys: (Value | typeof TOMBSTONE)[] = [];
  values: Value[] = [];
  /** The number of each entry, ascending. */
  numbers: number[] = [];
  nextNumber = 0;

  get size(): number {
    return this.index.size;
  }
  has(key: Value): boolean {
    return this.index.has(indexKey(key));
  }
  get(key: Value): Value {
    const at = this.index.get(indexKey(key));
    return at === undefined ? undefined : this.values[at];
  }
  put(key: Value, value: Value): void {
    const indexed = indexKey(key);
    const at = this.index.get(indexed);
    if (at !== undefined) {
      this.values[at] = value;
      return;
    }
    this.index.set(indexed, this.keys.length);
    // -0 is kept as +0, as JavaScript does.
    this.keys.push(key === 0 ? 0 : key);
    this.values.push(value);
    this.numbers.push(this.nextNumber++);
  }
  remove(key: Value): boolean {
    const indexed = indexKey(key);
    const at = this.index.get(indexed);
    if (at === undefined) return false;
    this.index.delete(indexed);
    this.keys[at] = TOMBSTONE;
    this.values[at] = undefined;
    if (this.keys.length > 16 && this.index.size * 2 < this.keys.length) this.compact();
    return true;
  }
  clear(): void {
    this.index.clear();
    this.keys = [];
    this.values = [];
    this.numbers = [];
  }
  /** The position of the first live entry numbered `number` or later, or -1. Read `keys[p]`, `values[p]`, `numbers[p]`. */
  seek(number: number): number {
    let low = 0;
    let high = this.keys.length;
    // Most lookups continue where the last one ended: an uncompacted list has numbers[p] === p.
    if (number < high && this.numbers[number] === number) low = number;
    else {
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.numbers[middle] < number) low = middle + 1;
        else high = middle;
      }
    }
    while (low < this.keys.length && this.keys[low] === TOMBSTONE) low++;
    return low < this.keys.length ? low : -1;
  }
  private compact(): void {
    const { keys, values, numbers } = this;
    this.keys = [];
    this.values = [];
    this.numbers = [];
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at];
      if (key === TOMBSTONE) continue;
      this.index.set(indexKey(key), this.keys.length);
      this.keys.push(key);
      this.values.push(values[at]);
      this.numbers.push(numbers[at]);
    }
  }
}

export class MapObject extends CollectionObject {}
export class SetObject extends CollectionObject {}

export type IteratorMode = 'keys' | 'values' | 'entries';

/**
 * An iterator is (collection, position, mode): position is an index for arrays and strings, an entry number for Map
 * and Set. `target` becomes null when it is exhausted, as JavaScript's built-in iterators stay done forever.
 * `for…in` uses one too: mode 'values' over an array of names, skipping those deleted from `owner` meanwhile.
 */
export class IteratorObject extends HeapObject {
  position = 0;
  constructor(
    public target: ArrayObject | CollectionObject | string | null,
    readonly mode: IteratorMode,
    readonly owner: HeapObject | null = null,
  ) {
    super();
  }
}

export const PENDING = 0;
export const FULFILLED = 1;
export const REJECTED = 2;

/** A promise; `call` is set while it is a pending durable call. */
export class PromiseObject extends HeapObject {
  state: typeof PENDING | typeof FULFILLED | typeof REJECTED = PENDING;
  /** The fulfilment value or the reason. */
  value: Value = undefined;
  reactions: Reaction[] | null = null;
  handled = false;
  /** Made by a durable call, settled or not: it has `cancel`. */
  durable = false;
  call: PendingCall | null = null;
  /** Restored: its reactions were all members of decided combinators, which are not stored. */
  raced = false;
}

export function isCallable(value: unknown): value is FunctionObject | NativeFunction | BoundNative {
  return value instanceof FunctionObject || value instanceof NativeFunction || value instanceof BoundNative;
}

/** The result of `typeof`. */
export function typeOf(value: Value): string {
  if (value === null) return 'object';
  if (typeof value !== 'object') return typeof value;
  return isCallable(value) ? 'function' : 'object';
}
