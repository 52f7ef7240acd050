// Writes the state of a suspended run as JSON text: what is live, and nothing else.

import type { Frame } from '../vm/frame.js';
import { AwaitReaction, Combinator, FollowReaction, type Reaction, ThenReaction } from '../vm/promise.js';
import { liveRegisters, type Visitor, Walk, walkSome } from '../vm/reach.js';
import {
  ArrayObject,
  BoundNative,
  Cell,
  type CollectionObject,
  DateObject,
  ErrorObject,
  FULFILLED,
  FunctionObject,
  HeapObject,
  IteratorObject,
  MapObject,
  NamespaceObject,
  NativeFunction,
  newProperties,
  PENDING,
  PlainObject,
  PromiseObject,
  type Properties,
  SetObject,
  TOMBSTONE,
  UNINITIALIZED,
} from '../vm/values.js';
import type { Vm } from '../vm/vm.js';
import {
  CALL_KINDS,
  COMBINATOR_KINDS,
  INLINE_DEPTH,
  ITERATOR_MODES,
  type Json,
  ReactionTag,
  SNAPSHOT_VERSION,
  SPECIAL_NUMBERS,
  Tag,
} from './format.js';

export function writeSnapshot(vm: Vm): string {
  return new SnapshotWriter(vm).advance(Number.POSITIVE_INFINITY) as string;
}

type Shared = HeapObject | Cell | Combinator;

const NOTHING: ReadonlySet<object> = new Set();

/** A state of so many values is written in one go, in a fraction of a slice. */
const SMALL = 20_000;
/** Fuel of writing one value. */
const VALUE_WORK = 8;
/** Elements that are written in one go. */
const SPAN = 1_000;
/** A longer text is made in a slice of its own. */
const LONG_TEXT = 1_000_000;

/** A long array that is being written. */
interface Unfinished {
  readonly elements: readonly unknown[];
  readonly list: Json[];
  readonly depth: number;
  at: number;
}

/** Thrown where a state turns out to be large, or to hold an object twice. */
const NOT_A_SMALL_TREE = Symbol('not a small tree');

/**
 * Most states are small trees: they are written without looking for shared objects first. Large ones are written in steps, because
 * they take longer than a slice. The run does not move in between.
 */
export class SnapshotWriter {
  private shared = new Map<object, number>();
  private table: Json[] = [];
  private waiting: Shared[] = [];
  private isShared: ReadonlySet<object> = NOTHING;
  /** The objects of a tree so far. */
  private seen: Set<object> | null = null;
  /** A lower bound for the length of the text: writing stops before one that is too long is built. */
  private length = 0;
  private longest: number;
  /** Values, since the slice began. */
  private written = 0;
  /** In steps: null before that. */
  private walk: Walk | null = null;
  private top: Json[] | null = null;
  private readonly unfinished: Unfinished[] = [];

  constructor(private readonly vm: Vm) {
    this.longest = vm.limits.snapshotBytes;
  }

  /** Goes on for about this much fuel, which is not charged; returns the text when it is done. */
  advance(fuel: number): string | undefined {
    if (this.walk === null) {
      const text = this.smallTree() ?? this.smallGraph();
      if (text !== undefined) return text;
      this.walk = new Walk(this.vm.calls.promises(), this.forShared());
    }
    if (!this.walk.isDone) {
      const used = this.walk.advance(fuel);
      if (used >= fuel) return undefined;
    }
    this.written = 0;
    this.top ??= this.begin();
    if (!this.goOn(fuel / VALUE_WORK)) return undefined;
    if (this.length > LONG_TEXT && this.written > 0 && fuel < Number.POSITIVE_INFINITY) return undefined;
    return JSON.stringify(this.top);
  }

  private smallTree(): string | undefined {
    if (this.vm.isTree) {
      try {
        this.seen = new Set();
        this.longest = Math.min(this.longest, LONG_TEXT);
        return JSON.stringify(this.complete());
      } catch (reason) {
        if (reason !== NOT_A_SMALL_TREE) throw reason;
      }
      this.vm.isTree = false;
      this.seen = null;
      this.longest = this.vm.limits.snapshotBytes;
      this.length = 0;
      this.shared = new Map();
      this.table = [];
      this.waiting = [];
    }
    return undefined;
  }

  private smallGraph(): string | undefined {
    if (!walkSome(this.vm.calls.promises(), this.forShared(), new Set(), SMALL)) {
      this.isShared = NOTHING;
      return undefined;
    }
    this.vm.isTree = this.isShared === NOTHING;
    return JSON.stringify(this.complete());
  }

  private complete(): Json[] {
    const top = this.begin();
    while (this.table.length < this.waiting.length) this.table.push(this.body(this.waiting[this.table.length], 0));
    return top;
  }

  private forShared(): Visitor {
    return {
      again: (object) => {
        if (this.isShared === NOTHING) this.isShared = new Set();
        (this.isShared as Set<object>).add(object);
      },
    };
  }

  /** Writes what is left, up to about so many values. Shared objects are numbered in the order in which the writer reaches them. */
  private goOn(most: number): boolean {
    const { unfinished, waiting } = this;
    while (unfinished.length > 0 || this.table.length < waiting.length) {
      if (this.written > most) return false;
      // Writing it may add others.
      const array = unfinished.pop();
      if (array === undefined) this.table.push(this.body(waiting[this.table.length], 0));
      else if (!this.elements(array, SPAN)) unfinished.push(array);
    }
    return true;
  }

  private begin(): Json[] {
    const { calls } = this.vm;
    const pending: Json[] = [];
    for (const promise of calls.promises()) {
      const { id, kind, name, timeoutMs, muted } = promise.call!;
      const call: Json[] = [id, CALL_KINDS.indexOf(kind), name, this.value(promise, 0)];
      if (timeoutMs !== undefined || muted) call.push(timeoutMs ?? null);
      if (muted) call.push(1);
      pending.push(call);
    }
    const top: Json[] = [SNAPSHOT_VERSION, this.vm.program.fingerprint, calls.nextId, pending, this.table];
    if (calls.forgotten.size > 0) top.push([...calls.forgotten].map(([id, name]) => [id, name]));
    return top;
  }

  private value(value: unknown, depth: number): Json {
    this.written++;
    this.length += typeof value === 'string' ? 3 + value.length : 2;
    if (this.length > this.longest) throw this.tooLong();
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : [Tag.NUMBER, SPECIAL_NUMBERS.findIndex((each) => Object.is(each, value))];
      case 'undefined':
        return [];
      case 'symbol':
        if (value === UNINITIALIZED) return [Tag.UNINITIALIZED];
        break;
      case 'object':
        if (value === null) return null;
        if (value === this.vm.context) return [Tag.CONTEXT];
        if (value === this.vm.context.props.tags) return [Tag.CONTEXT, 1];
        if (value === this.vm.main) return [Tag.MAIN];
        if (value instanceof NativeFunction) return [Tag.NATIVE, value.definition.name];
        if (value instanceof NamespaceObject) return [Tag.NATIVE, value.name];
        if (this.seen !== null) this.addToTree(value);
        if (this.isShared.has(value) || depth >= INLINE_DEPTH) return [Tag.REFERENCE, this.indexOf(value as Shared)];
        return this.body(value as Shared, depth);
    }
    throw new Error(`a snapshot cannot hold a ${typeof value}`);
  }

  private tooLong(): unknown {
    if (this.seen !== null) return NOT_A_SMALL_TREE;
    return this.vm.limit('FLOW_LIMIT_SNAPSHOT', `${this.vm.limits.snapshotBytes} characters of snapshot`);
  }

  private addToTree(object: object): void {
    const seen = this.seen as Set<object>;
    if (seen.has(object) || this.written > SMALL) throw NOT_A_SMALL_TREE;
    seen.add(object);
  }

  private indexOf(object: Shared): number {
    let index = this.shared.get(object);
    if (index === undefined) {
      index = this.waiting.push(object) - 1;
      this.shared.set(object, index);
    }
    return index;
  }

  private body(object: Shared, depth: number): Json {
    if (!(object instanceof HeapObject)) return this.plainBody(object, depth + 1);
    const isPlain = object instanceof PlainObject;
    const hasProps = !isPlain && object.props !== null;
    if (!hasProps && !object.frozen) return this.plainBody(object, depth + 1);
    const props: Json = hasProps ? this.properties(object.props!, depth + 1) : 0;
    return [Tag.EXTRA, object.frozen ? 1 : 0, props, this.plainBody(object, depth + 1)];
  }

  private plainBody(object: Shared, depth: number): Json {
    if (object instanceof PromiseObject) return this.promise(object, depth);
    if (object instanceof PlainObject) return this.properties(object.props, depth);
    if (object instanceof ArrayObject) return this.array(object.elements, depth);
    const one = (value: unknown) => this.value(value, depth);
    if (object instanceof Cell) return [Tag.CELL, one(object.value)];
    if (object instanceof FunctionObject) return [Tag.FUNCTION, object.code.index, object.givenName ?? 0, ...object.cells.map(one)];
    if (object instanceof BoundNative) return [Tag.BOUND, object.definition.name, ...object.bound.map(one)];
    if (object instanceof ErrorObject)
      return [Tag.ERROR, object.errorKind, this.properties(object.hidden, depth), [...object.trace], object.stack ?? 0];
    if (object instanceof DateObject) return [Tag.DATE, Number.isNaN(object.time) ? null : object.time];
    if (object instanceof MapObject) {
      const list: Json[] = [Tag.MAP];
      object.keys.forEach((key, at) => {
        if (key !== TOMBSTONE) list.push(one(key), one(object.values[at]));
      });
      return list;
    }
    if (object instanceof SetObject) return [Tag.SET, ...object.keys.filter((key) => key !== TOMBSTONE).map(one)];
    if (object instanceof IteratorObject) return this.iterator(object, depth);
    if (object instanceof Combinator)
      return [Tag.COMBINATOR, COMBINATOR_KINDS.indexOf(object.kind), object.remaining, one(object.result), ...object.values.map(one)];
    throw new Error(`a snapshot cannot hold a ${object.constructor.name}`);
  }

  private properties(props: Properties, depth: number): Json {
    // Without a prototype, so that `__proto__` is a key like any other.
    let result: { [key: string]: Json } | undefined;
    for (const key in props) {
      const value = props[key];
      const written = this.value(value, depth);
      if (written === value) {
        if (result !== undefined) result[key] = written;
        continue;
      }
      result ??= copyUpTo(key, props);
      result[key] = written;
    }
    // What holds only what JSON can is written as it is.
    return result ?? (props as { [key: string]: Json });
  }

  private array(elements: readonly unknown[], depth: number): Json {
    const array: Unfinished = { elements, at: 0, depth, list: [Tag.ARRAY] };
    if (this.seen !== null && elements.length > SMALL) throw NOT_A_SMALL_TREE;
    // In steps, the elements of a long one follow when everything else is written.
    if (this.walk !== null && elements.length > SPAN) this.unfinished.push(array);
    else this.elements(array, elements.length);
    return array.list;
  }

  /** Writes the next elements of an array; true when it is complete. */
  private elements(array: Unfinished, most: number): boolean {
    const { elements, list, depth } = array;
    const until = Math.min(elements.length, array.at + most);
    let { at } = array;
    while (at < until) {
      if (at in elements) {
        list.push(this.value(elements[at++], depth));
        continue;
      }
      const from = at;
      while (at < elements.length && !(at in elements)) at++;
      list.push([Tag.HOLES, at - from]);
    }
    array.at = at;
    return at >= elements.length;
  }

  private iterator({ target, position, mode, owner }: IteratorObject, depth: number): Json {
    // Entries are written without the deleted ones and renumbered.
    const place = target instanceof MapObject || target instanceof SetObject ? this.placeIn(target, position) : position;
    return [Tag.ITERATOR, this.value(target, depth), place, ITERATOR_MODES.indexOf(mode), ...(owner ? [this.value(owner, depth)] : [])];
  }

  /** How many live entries come before an entry number; counted once per collection, then found by binary search. */
  private placeIn(collection: CollectionObject, number: number): number {
    this.liveNumbers ??= new Map();
    let live = this.liveNumbers.get(collection);
    if (!live) {
      live = collection.numbers.filter((_, at) => collection.keys[at] !== TOMBSTONE);
      this.liveNumbers.set(collection, live);
    }
    let low = 0;
    let high = live.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (live[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  private liveNumbers: Map<CollectionObject, number[]> | undefined;

  private promise(promise: PromiseObject, depth: number): Json {
    const flags = (promise.handled ? 1 : 0) + (promise.durable ? 2 : 0);
    if (promise.state !== PENDING)
      return [promise.state === FULFILLED ? Tag.FULFILLED : Tag.REJECTED, flags, this.value(promise.value, depth)];
    const list: Json[] = [Tag.PENDING, flags];
    for (const reaction of promise.reactions ?? []) {
      const written = this.reaction(reaction, depth);
      if (written) list.push(written);
    }
    // Without it a branch that lost would look like one that was never awaited. A durable call does not need the flag.
    if (list.length === 2 && !promise.durable && (promise.raced || promise.reactions !== null)) list[1] = flags + 4;
    return list;
  }

  private reaction(reaction: Reaction, depth: number): Json[] | undefined {
    if (reaction instanceof AwaitReaction) return this.frame(reaction.frame, depth);
    const one = (value: unknown) => this.value(value, depth);
    if (reaction instanceof ThenReaction)
      return [ReactionTag.THEN, one(reaction.onFulfilled), one(reaction.onRejected), one(reaction.result)];
    if (reaction instanceof FollowReaction) return [ReactionTag.FOLLOW, one(reaction.follower)];
    // The member of a decided combinator cannot change anything any more.
    return reaction.combinator.done ? undefined : [ReactionTag.ELEMENT, one(reaction.combinator), reaction.index];
  }

  private frame(frame: Frame, depth: number): Json[] {
    const list: Json[] = [ReactionTag.AWAIT, frame.code.index, frame.ip, this.value(frame.promise, depth)];
    for (const cell of frame.cells) list.push(this.value(cell, depth));
    for (const register of liveRegisters(frame)) list.push(this.value(register, depth));
    return list;
  }
}

function copyUpTo(end: string, props: Properties): { [key: string]: Json } {
  const copy = newProperties() as { [key: string]: Json };
  for (const key in props) {
    if (key === end) break;
    copy[key] = props[key] as Json;
  }
  return copy;
}
