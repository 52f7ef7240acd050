// The operations that natives use on a run: the `Machine` of native.ts, without the frames and jobs that vm.ts adds.

import { type ErrorKind } from '../error-kinds.js';
import type { Effect, FlowHost } from '../turn.js';
import { CoercionMemo, integerOf, toPrimitive, toPrimitiveSteps } from './coerce.js';
import { FlowThrow } from './exceptions.js';
import { iteratorOf, nextOf } from './iterate.js';
import {
  ARRAY_BYTES,
  COLLECTION_BYTES,
  DATE_BYTES,
  ELEMENT_BYTES,
  ERROR_BYTES,
  ITERATOR_BYTES,
  PLAIN_BYTES,
  PROMISE_BYTES,
  TRACE_BYTES,
} from './memory.js';
import { Meter } from './meter.js';
import type { DONE, LogLevel, Machine, Primitive, PrimitiveHint, Steps } from './native.js';
import {
  defineOwn,
  deleteProperty,
  getProperty,
  hasOwn,
  hasProperty,
  LONGEST_HASHED,
  ownKeys,
  setProperty,
  setPropertySteps,
} from './properties.js';
import {
  ArrayObject,
  DateObject,
  ErrorObject,
  type HeapObject,
  IteratorObject,
  isCallable,
  MapObject,
  newProperties,
  PlainObject,
  PromiseObject,
  type Properties,
  SetObject,
  typeOf,
  type Value,
} from './values.js';

const MAX_STRING = 2 ** 29 - 24;
/** V8 copies shorter strings when it joins them. */
export const LONG_JOINED = 1_024;
const JOINED_BYTES = 32;
const EFFECT_BYTES = 200;
/** The cost of a key that V8 may have to compare with every other key. */
const COLLIDING_KEY = 200_000;

export abstract class NativeMachine extends Meter implements Machine {
  memo = new CoercionMemo();
  /** Log lines that this turn may still write; below zero the rest was dropped. */
  logsLeft = 0;
  host: FlowHost = { now: () => 0, random: () => 0, uuid: () => '' };
  effects: Effect[] = [];
  /** Bytes of the effects of this turn, which the host takes at its end. */
  effectBytes = 0;

  /** The flow's stack, innermost first: pairs of function index and instruction pointer. */
  protected abstract trace(): number[];
  abstract hold(values: readonly Value[]): void;

  // Creating values ---------------------------------------------------------------------------------------------------

  chargeString(length: number): void {
    if (length > MAX_STRING) throw this.error('RangeError', 'Invalid string length');
    this.chargeBytes(16 + length);
    this.charge(length >> 8);
  }
  /** The length of the latest long string that was made by `+` and not read since; V8 has not copied its characters yet. */
  private joinedLength = -1;
  /**
   * Charges `left + right` by their lengths. V8 joins long strings without copying them. A string that grows step by step therefore costs what
   * is added, until it is read: that copies it, and the next step is charged in full. Its bytes always are, since whoever keeps
   * every step and reads them all has them all.
   */
  chargeJoined(left: number, right: number): void {
    const length = left + right;
    if (length < LONG_JOINED) return this.chargeBytes(16 + length);
    if (length > MAX_STRING) throw this.error('RangeError', 'Invalid string length');
    const added = left === this.joinedLength ? right : right === this.joinedLength ? left : -1;
    this.joinedLength = length;
    if (added < 0) return this.chargeString(length);
    this.fuel -= 2 + (added >> 4) + (length >> 10);
    this.allocate(JOINED_BYTES + length);
  }
  /** Charges the copy that reading a single place of a long string makes, if it was just joined. */
  chargeRead(length: number): void {
    if (length !== this.joinedLength) return;
    this.joinedLength = -1;
    this.charge(length >> 4);
  }
  newPromise(): PromiseObject {
    this.chargeBytes(PROMISE_BYTES);
    return new PromiseObject();
  }
  newArray(elements: Value[]): ArrayObject {
    this.chargeBytes(ARRAY_BYTES + elements.length * ELEMENT_BYTES);
    return new ArrayObject(elements);
  }
  chargeElements(count: number): void {
    this.chargeBytes(count * ELEMENT_BYTES);
  }
  /** The caller has charged the properties (see `chargeKeyBytes`), or there are few of them. */
  newObject(props: Properties = newProperties()): PlainObject {
    this.chargeBytes(PLAIN_BYTES);
    return new PlainObject(props);
  }
  newMap(): MapObject {
    this.chargeBytes(COLLECTION_BYTES);
    return new MapObject();
  }
  newSet(): SetObject {
    this.chargeBytes(COLLECTION_BYTES);
    return new SetObject();
  }
  newDate(time: number): DateObject {
    this.chargeBytes(DATE_BYTES);
    return new DateObject(time);
  }
  newIterator(target: ArrayObject | MapObject | SetObject | string, mode: 'keys' | 'values' | 'entries'): IteratorObject {
    this.chargeBytes(ITERATOR_BYTES);
    return new IteratorObject(target, mode);
  }
  newError(kind: ErrorKind, message?: string, options?: { cause: Value }): ErrorObject {
    const hidden = newProperties();
    if (message !== undefined) hidden.message = message;
    if (options) hidden.cause = options.cause;
    const trace = this.trace();
    this.chargeBytes(ERROR_BYTES + trace.length * TRACE_BYTES + (message?.length ?? 0));
    return new ErrorObject(kind, hidden, trace);
  }
  error(kind: ErrorKind, message: string): Error {
    return new FlowThrow(this.newError(kind, message));
  }
  thrown(value: Value): Error {
    return new FlowThrow(value);
  }

  // Properties --------------------------------------------------------------------------------------------------------

  getProperty(object: Value, key: string): Value {
    return getProperty(this, object, key);
  }
  setProperty(object: Value, key: string, value: Value): void {
    setProperty(this, object, key, value);
  }
  setPropertySteps(object: Value, key: string, value: Value): Steps<void> {
    return setPropertySteps(this, object, key, value);
  }
  defineProperty(object: HeapObject, key: string, value: Value): void {
    defineOwn(this, object, key, value);
  }
  deleteProperty(object: Value, key: string): boolean {
    return deleteProperty(this, object, key);
  }
  hasOwn(object: Value, key: string): boolean {
    return hasOwn(this, object, key);
  }
  hasProperty(object: HeapObject, key: string): boolean {
    return hasProperty(this, object, key);
  }
  ownKeys(object: Value): string[] {
    return ownKeys(this, object);
  }

  // Coercions ---------------------------------------------------------------------------------------------------------

  toPrimitive(value: Value, hint: PrimitiveHint): Primitive {
    return toPrimitive(this, value, hint);
  }
  override toString(value?: Value): string {
    return typeof value === 'string' ? value : String(toPrimitive(this, value, 'string'));
  }
  toNumber(value: Value): number {
    if (typeof value === 'number') return value;
    const primitive = toPrimitive(this, value, 'number');
    if (typeof primitive === 'string') this.charge(primitive.length >> 3);
    return Number(primitive);
  }
  atStart(value: number): number {
    const { memo } = this;
    memo.start ??= value;
    return memo.start;
  }
  toInteger(value: Value): number {
    return integerOf(this.toNumber(value));
  }
  toPropertyKey(value: Value): string {
    const key = this.toString(value);
    this.chargeRead(key.length);
    if (key.length > LONGEST_HASHED) this.chargeKey();
    return key;
  }
  /** V8 hashes longer strings by their length alone, so that they all collide: looking one up may compare it with every other. */
  chargeKey(): void {
    this.charge(COLLIDING_KEY);
  }
  *toPropertyKeySteps(value: Value): Steps<string> {
    const key = yield* this.toStringSteps(value);
    if (key.length > LONGEST_HASHED) this.chargeKey();
    return key;
  }
  toPrimitiveSteps(value: Value, hint: PrimitiveHint): Steps<Primitive> {
    return toPrimitiveSteps(this, value, hint);
  }
  *toStringSteps(value: Value): Steps<string> {
    return typeof value === 'string' ? value : String(yield* toPrimitiveSteps(this, value, 'string'));
  }
  *toNumberSteps(value: Value): Steps<number> {
    if (typeof value === 'number') return value;
    const primitive = yield* toPrimitiveSteps(this, value, 'number');
    if (typeof primitive === 'string') this.charge(primitive.length >> 3);
    return Number(primitive);
  }
  *toIntegerSteps(value: Value): Steps<number> {
    return integerOf(yield* this.toNumberSteps(value));
  }

  // Calls, iteration, host --------------------------------------------------------------------------------------------

  requireCallable(value: Value, what: string): void {
    if (!isCallable(value)) throw this.error('TypeError', `${what} is not a function (it is ${value === null ? 'null' : typeOf(value)})`);
  }
  iteratorOf(value: Value): IteratorObject {
    return iteratorOf(this, value);
  }
  next(iterator: IteratorObject): Value | typeof DONE {
    this.charge(1);
    return nextOf(this, iterator);
  }
  now(): number {
    return this.host.now();
  }
  random(): number {
    return this.host.random();
  }
  uuid(): string {
    return this.host.uuid();
  }
  log(level: LogLevel, message: string): void {
    if (this.logsLeft < 0) return;
    const line = this.logsLeft === 0 ? 'More log lines of this turn were dropped.' : message;
    this.logsLeft--;
    this.emit({ kind: 'log', level: this.logsLeft < 0 ? 'warn' : level, message: line, at: this.host.now() }, line.length);
  }
  /** Adds an effect. Effects stay in memory until the turn ends, so they are charged, and their number is limited. */
  emit(effect: Effect, textLength = 0): void {
    const bytes = EFFECT_BYTES + textLength;
    this.chargeBytes(bytes);
    this.effectBytes += bytes;
    if (!this.closing && this.effects.length >= this.limits.pendingEffects * 4 + this.limits.logLines)
      throw this.limit('FLOW_LIMIT_PENDING_EFFECTS', `${this.effects.length} effects in one turn`);
    this.effects.push(effect);
  }
}
