// The virtual machine of one run: its frames, jobs and limits, and everything natives may ask of it.

import type { FunctionCode, Program } from '../compile/program.js';
import type { FlowLimits } from '../limits.js';
import type { Effect, FlowHost } from '../turn.js';
import { CoercionMemo, integerOf, toPrimitive, toPrimitiveSteps } from './coerce.js';
import { interpret } from './dispatch.js';
import type { DurableCalls } from './durable-calls.js';
import { FlowThrow, LIMIT_ADVICE, LimitReached, NeedsCoercion } from './exceptions.js';
import { type AnyFrame, Frame, NativeFrame, newRegisters, SettleFrame } from './frame.js';
import { measureHeap } from './heap.js';
import { iteratorOf, nextOf } from './iterate.js';
import {
  type CallRequest,
  DONE,
  type LogLevel,
  type Machine,
  type NativeCall,
  type NativeDefinition,
  type NativeSteps,
  type Primitive,
  type PrimitiveHint,
  type Steps,
} from './native.js';
import {
  AwaitReaction,
  ElementReaction,
  FollowReaction,
  fulfillPromise,
  type Job,
  promiseOf,
  ReactionJob,
  react,
  rejectPromise,
  resolvePromise,
  settleElement,
} from './promise.js';
import { resolvingFunctions } from './promise-builtins.js';
import {
  defineOwn,
  deleteProperty,
  ELEMENT_BYTES,
  getProperty,
  hasOwn,
  hasProperty,
  LONGEST_HASHED,
  ownKeys,
  PROPERTY_BYTES,
  setProperty,
  setPropertySteps,
} from './properties.js';
import { registry } from './registry.js';
import {
  ArrayObject,
  BoundNative,
  DateObject,
  type ErrorKind,
  ErrorObject,
  FunctionObject,
  HeapObject,
  IteratorObject,
  isCallable,
  MapObject,
  NativeFunction,
  newProperties,
  PENDING,
  PlainObject,
  PromiseObject,
  type Properties,
  SetObject,
  typeOf,
  type Value,
} from './values.js';

/** Answered by `call` when the result comes later: a frame was pushed. */
export const PUSHED: unique symbol = Symbol('pushed');

const OBJECT_BYTES = 48;
const MAX_STRING = 2 ** 29 - 24;
const TRACE_DEPTH = 20;
const SMALL_FRAME = 64;
const EFFECT_BYTES = 200;
/** What a key costs that V8 may have to compare with everything on the heap. */
const COLLIDING_KEY = 200_000;

export class Vm implements Machine {
  readonly frames: AnyFrame[] = [];
  /** Rejected promises that nobody has handled yet. */
  readonly unhandled = new Set<PromiseObject>();
  memo = new CoercionMemo();
  /** The arrays that `join` is writing, outermost first: one that contains itself is left out. */
  readonly joining: ArrayObject[] = [];
  /** The main body's promise; when it settles the run is over. */
  main: PromiseObject = new PromiseObject();
  /** Left of this turn; `fuelFloor` is where the slice ends. */
  fuel = 0;
  fuelFloor = 0;
  heapBytes = 0;
  private heapCeiling: number;
  private mustMeasure = false;
  private closing = false;
  private jobs: Job[] = [];
  private nextJob = 0;
  logsLeft = 0;
  /** The result of the latest operator that finished at once. */
  result: Value = undefined;
  host: FlowHost = { now: () => 0, random: () => 0, uuid: () => '' };
  effects: Effect[] = [];
  /** Held by the effects of this turn until the host takes them. */
  effectBytes = 0;

  constructor(
    readonly program: Program,
    readonly limits: FlowLimits,
    /** `Context`, as the flow sees it. */
    readonly context: PlainObject,
    readonly calls: DurableCalls,
  ) {
    this.heapCeiling = limits.heapBytes;
  }

  get taskNamespace(): Value {
    return registry().globals.get('Task');
  }

  global(name: string): Value {
    if (name === 'Context') return this.context;
    return registry().globals.get(name);
  }

  // Running -----------------------------------------------------------------------------------------------------------

  /** Runs frames and jobs until nothing is left to do or the main body has settled ('idle'), or the slice is used up. */
  drain(): 'idle' | 'yielded' {
    for (;;) {
      if (this.frames.length > 0) {
        interpret(this);
        if (this.frames.length > 0) return 'yielded';
      }
      if (this.main.state !== PENDING) return 'idle';
      const job = this.jobs[this.nextJob];
      if (job === undefined) {
        this.jobs = [];
        this.nextJob = 0;
        return 'idle';
      }
      if (this.checkpoint(2)) return 'yielded';
      this.nextJob++;
      // A long chain of jobs would otherwise keep every finished one.
      if (this.nextJob === 1024) {
        this.jobs = this.jobs.slice(1024);
        this.nextJob = 0;
      }
      this.guarded(() => this.runJob(job));
    }
  }

  enqueue(job: Job): void {
    this.chargeBytes(32);
    this.jobs.push(job);
  }

  get pendingJobs(): readonly Job[] {
    return this.jobs.slice(this.nextJob);
  }

  private runJob(job: Job): void {
    if (!(job instanceof ReactionJob)) {
      const { promise, thenable, then } = job;
      if (thenable instanceof PromiseObject) return react(this, thenable, new FollowReaction(promise));
      const { resolve, reject } = resolvingFunctions(this, promise);
      this.frames.push(new NativeFrame(this.thenableSteps(thenable, then, resolve, reject), thenable, []));
      return this.deliver(undefined);
    }
    const { reaction, fulfilled, value } = job;
    if (reaction instanceof AwaitReaction) {
      this.frames.push(reaction.frame);
      if (!fulfilled) return this.unwind(value);
      reaction.frame.registers[reaction.frame.sp++] = value;
    } else if (reaction instanceof ElementReaction) settleElement(this, reaction, fulfilled, value);
    else if (reaction instanceof FollowReaction) {
      if (fulfilled) resolvePromise(this, reaction.follower, value);
      else rejectPromise(this, reaction.follower, value);
    } else {
      const handler = fulfilled ? reaction.onFulfilled : reaction.onRejected;
      if (handler === undefined) {
        if (fulfilled) resolvePromise(this, reaction.result, value);
        else rejectPromise(this, reaction.result, value);
        return;
      }
      this.frames.push(new SettleFrame(reaction.result));
      const result = this.call(handler, undefined, [value], 'handler');
      if (result !== PUSHED) this.deliver(result);
    }
  }

  /** What `then` throws rejects through the same once-only function that it was given. */
  private *thenableSteps(thenable: Value, then: Value, resolve: BoundNative, reject: BoundNative): Steps<Value> {
    try {
      yield { fn: then, args: [resolve, reject], receiver: thenable };
    } catch (error) {
      if (!(error instanceof FlowThrow)) throw error;
      yield { fn: reject, args: [error.value] };
    }
    return undefined;
  }

  /** Runs host code that may throw a flow value for the frames on the stack. */
  guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.raise(error);
    }
  }

  /** Turns a host exception into a throw of the flow; limits and our own faults pass through. */
  raise(error: unknown): void {
    for (let thrown = error; ; ) {
      const value = this.valueOf(thrown);
      try {
        this.unwind(value);
        return;
      } catch (next) {
        thrown = next;
      }
    }
  }

  private valueOf(error: unknown): Value {
    if (error instanceof FlowThrow) return error.value;
    if (error instanceof LimitReached) throw error;
    if (error instanceof NeedsCoercion)
      return this.newError('TypeError', 'An object with its own toString or valueOf cannot be converted here');
    if (error instanceof RangeError && /call stack/i.test(error.message)) throw this.limit('CALL_DEPTH', 'the host stack');
    if (error instanceof RangeError && /string length|array length/i.test(error.message))
      throw this.limit('HEAP', `${this.limits.heapBytes} bytes of heap`);
    throw error;
  }

  // Calls -------------------------------------------------------------------------------------------------------------

  /** Calls any callable: answers its result, or PUSHED when a frame must run first. */
  call(fn: Value, receiver: Value, args: readonly Value[], what: string): Value | typeof PUSHED {
    if (fn instanceof FunctionObject) {
      this.pushFrame(fn, args);
      return PUSHED;
    }
    if (fn instanceof NativeFunction) return this.callDefinition(fn.definition, receiver, args);
    if (fn instanceof BoundNative) return this.callDefinition(fn.definition, fn, args);
    throw this.error('TypeError', `${what} is not a function`);
  }

  callDefinition(definition: NativeDefinition, receiver: Value, args: readonly Value[]): Value | typeof PUSHED {
    const { cost, call, steps } = definition;
    this.charge(typeof cost === 'number' ? cost : cost(receiver, args));
    if (call) return this.callPlain(call, steps, receiver, args);
    if (steps) return this.startSteps(steps(this, receiver, args), receiver, args);
    throw this.error('TypeError', `${definition.name} cannot be called without new`);
  }

  construct(fn: Value, args: readonly Value[], what: string): Value | typeof PUSHED {
    if (fn instanceof NativeFunction) {
      const { cost, construct, constructSteps } = fn.definition;
      this.charge(typeof cost === 'number' ? cost : cost(undefined, args));
      if (construct) return this.callPlain(construct, undefined, undefined, args);
      if (constructSteps) return this.startSteps(constructSteps(this, undefined, args), undefined, args);
    }
    throw this.error('TypeError', `${what} is not a constructor`);
  }

  private callPlain(call: NativeCall, steps: NativeSteps | undefined, receiver: Value, args: readonly Value[]): Value | typeof PUSHED {
    const { memo } = this;
    memo.clear();
    try {
      return call(this, receiver, args);
    } catch (error) {
      if (!(error instanceof NeedsCoercion)) throw error;
      if (steps) return this.startSteps(steps(this, receiver, args), receiver, args);
      this.memo = new CoercionMemo();
      return this.startSteps(this.retry(call, receiver, args, error, memo), receiver, args);
    }
  }

  /** Runs the coercions that a plain native asks for, one by one, calling it again with what it found out so far. */
  private *retry(call: NativeCall, receiver: Value, args: readonly Value[], first: NeedsCoercion, memo: CoercionMemo): Steps<Value> {
    for (let request = first; ; ) {
      memo.primitives.push(yield* toPrimitiveSteps(this, request.object, request.hint));
      // It walks all of them again.
      this.charge(2 + 4 * memo.primitives.length);
      const before = this.memo;
      this.memo = memo;
      memo.next = 0;
      try {
        return call(this, receiver, args);
      } catch (error) {
        if (!(error instanceof NeedsCoercion)) throw error;
        request = error;
      } finally {
        this.memo = before;
      }
    }
  }

  private startSteps(steps: Steps<Value>, receiver: Value, args: readonly Value[]): Value | typeof PUSHED {
    this.checkDepth();
    const frame = new NativeFrame(steps, receiver, args);
    this.frames.push(frame);
    return this.step(frame, undefined);
  }

  /** Runs a stepped native until it is done (its frame is popped) or waits for a frame above it. */
  private step(frame: NativeFrame, sent: Value): Value | typeof PUSHED {
    let answer = frame.steps.next(sent);
    for (;;) {
      if (answer.done) {
        this.frames.pop();
        return answer.value;
      }
      const result = this.request(answer.value);
      if (result === PUSHED) return PUSHED;
      answer = frame.steps.next(result);
    }
  }

  private request({ fn, args, receiver }: CallRequest): Value | typeof PUSHED {
    return this.call(fn, receiver, args, 'callback');
  }

  pushFrame(fn: FunctionObject, args: readonly Value[]): void {
    const { code } = fn;
    this.chargeFrame(code);
    const registers = newRegisters(code);
    const { parameters } = code;
    const given = Math.min(parameters, args.length);
    for (let at = 0; at < given; at++) registers[at] = args[at];
    if (code.rest) registers[parameters] = this.newArray(args.slice(parameters));
    this.frames.push(new Frame(fn, registers, code.isAsync ? this.newPromise() : null));
  }

  /** A call costs as much as its function is long: instructions between two loops and calls are not counted one by one. */
  chargeFrame(code: FunctionCode): void {
    this.checkDepth();
    this.fuel -= 4 + (code.code.length >> 3);
    const size = code.slots + code.stack;
    // Small frames of plain functions are bounded by the call depth; those of async functions may wait in any number.
    if (size > SMALL_FRAME || code.isAsync) this.chargeBytes(size * 8);
  }

  checkDepth(): void {
    if (this.frames.length >= this.limits.callDepth) throw this.limit('CALL_DEPTH', `${this.limits.callDepth} nested calls`);
  }

  /** Hands a result to the frame on top, and on to those below as far as natives finish at once. */
  deliver(value: Value): void {
    let result: Value | typeof PUSHED = value;
    for (;;) {
      const top = this.frames[this.frames.length - 1];
      if (top === undefined) return;
      if (top instanceof Frame) {
        top.registers[top.sp++] = result;
        return;
      }
      if (top instanceof NativeFrame) {
        result = this.step(top, result);
        if (result === PUSHED) return;
        continue;
      }
      this.frames.pop();
      if (top instanceof SettleFrame) {
        resolvePromise(this, top.promise, result);
        return;
      }
      top.then(result);
      return;
    }
  }

  /** Throws a flow value: finds the handler, dropping frames on the way. */
  unwind(value: Value): void {
    for (;;) {
      const top = this.frames[this.frames.length - 1];
      if (top === undefined) return;
      if (top instanceof Frame) {
        if (this.enterHandler(top, value)) return;
        this.frames.pop();
        if (top.promise) {
          rejectPromise(this, top.promise, value);
          // Started by a caller that is still here: it gets the promise. Resumed by a job: nobody is below.
          return this.deliver(top.promise);
        }
      } else if (top instanceof NativeFrame) {
        const caught = this.throwInto(top, value);
        if (caught === PUSHED) return;
        return this.deliver(caught);
      } else {
        this.frames.pop();
        if (top instanceof SettleFrame) return rejectPromise(this, top.promise, value);
      }
    }
  }

  private enterHandler(frame: Frame, value: Value): boolean {
    const { handlers, slots } = frame.code;
    const at = frame.ip - 1;
    for (let row = 0; row < handlers.length; row += 4) {
      if (at < handlers[row] || at >= handlers[row + 1]) continue;
      frame.ip = handlers[row + 2];
      frame.sp = slots + handlers[row + 3];
      frame.registers[frame.sp++] = value;
      return true;
    }
    return false;
  }

  /** A native that does not catch is left by the same exception, which then goes on to the frame below. */
  private throwInto(frame: NativeFrame, value: Value): Value | typeof PUSHED {
    let answer: IteratorResult<CallRequest, Value>;
    try {
      answer = frame.steps.throw(new FlowThrow(value));
    } catch (error) {
      this.frames.pop();
      throw error;
    }
    if (answer.done) {
      this.frames.pop();
      return answer.value;
    }
    const result = this.request(answer.value);
    return result === PUSHED ? PUSHED : this.step(frame, result);
  }

  /** `await`: the frame on top leaves the stack until the promise settles. */
  suspend(frame: Frame, value: Value): void {
    const promise = promiseOf(this, value);
    this.frames.pop();
    react(this, promise, new AwaitReaction(frame));
    this.deliver(frame.promise!);
  }

  /** `return` from an async function. */
  finishAsync(frame: Frame, value: Value): void {
    this.frames.pop();
    resolvePromise(this, frame.promise!, value);
    this.deliver(frame.promise!);
  }

  // Limits ------------------------------------------------------------------------------------------------------------

  charge(units: number): void {
    this.fuel -= units;
    if (this.fuel < 0) throw this.limit('FUEL', `${this.limits.fuelPerTurn} units of fuel in one turn`);
  }

  /** Called by the dispatch loop where it may stop: true when the slice is used up. */
  checkpoint(units: number): boolean {
    this.fuel -= units;
    if (this.fuel >= this.fuelFloor) return false;
    if (this.fuel < 0) throw this.limit('FUEL', `${this.limits.fuelPerTurn} units of fuel in one turn`);
    if (this.mustMeasure) this.measure();
    return this.fuel < this.fuelFloor;
  }

  // Making things takes time as well, so bytes cost fuel too; where the loop next stops it is noticed.
  chargeBytes(bytes: number): void {
    this.heapBytes += bytes;
    this.fuel -= bytes >> 5;
    if (this.heapBytes > this.heapCeiling) this.heapFull();
  }

  // Bytes are only ever added, so the count includes garbage. At the ceiling the reachable heap is measured, where the
  // dispatch loop next stops: until then natives may go on to twice the limit.
  private heapFull(): void {
    if (this.heapBytes > this.heapCeiling + this.limits.heapBytes) throw this.limit('HEAP', `${this.limits.heapBytes} bytes of heap`);
    if (this.mustMeasure) return;
    this.mustMeasure = true;
    this.sliceFloor = this.fuelFloor;
    this.fuelFloor = Number.POSITIVE_INFINITY;
  }
  private sliceFloor = 0;

  private measure(): void {
    this.mustMeasure = false;
    this.fuelFloor = this.sliceFloor;
    // What was charged is a bound as well: the smaller one is nearer to the truth.
    this.heapBytes = Math.min(this.heapBytes, measureHeap(this));
    const { heapBytes } = this.limits;
    if (this.heapBytes > heapBytes) throw this.limit('HEAP', `${heapBytes} bytes of heap`);
    // At least an eighth of the limit is allocated between two measurements, so that measuring stays cheap.
    this.heapCeiling = Math.max(heapBytes, this.heapBytes + (heapBytes >> 3));
    this.charge(this.heapBytes >> 8);
  }

  /** The run is over, perhaps at a limit: what is left to say about it must not reach one again. */
  allowClosing(): void {
    this.closing = true;
    this.fuel = Math.max(this.fuel, this.limits.fuelPerSlice);
    this.heapBytes = 0;
  }

  startSlice(fuel: number): void {
    const floor = Math.max(0, this.fuel - fuel);
    if (this.mustMeasure) this.sliceFloor = floor;
    else this.fuelFloor = floor;
  }

  chargeString(length: number): void {
    if (length > MAX_STRING) throw this.error('RangeError', 'Invalid string length');
    this.chargeBytes(16 + length);
    this.charge(length >> 8);
  }

  limit(code: keyof typeof LIMIT_ADVICE, what: string): LimitReached {
    return new LimitReached(`FLOW_LIMIT_${code}`, `The run used more than ${what}. ${LIMIT_ADVICE[code]}`);
  }

  // Making things -----------------------------------------------------------------------------------------------------

  newPromise(): PromiseObject {
    this.chargeBytes(OBJECT_BYTES * 2);
    return new PromiseObject();
  }
  newArray(elements: Value[]): ArrayObject {
    this.chargeBytes(OBJECT_BYTES + elements.length * ELEMENT_BYTES);
    return new ArrayObject(elements);
  }
  chargeElements(count: number): void {
    this.chargeBytes(count * ELEMENT_BYTES);
  }
  newObject(props: Properties = newProperties()): PlainObject {
    let count = 0;
    for (const _key in props) count++;
    this.chargeBytes(OBJECT_BYTES + count * PROPERTY_BYTES);
    return new PlainObject(props);
  }
  newMap(): MapObject {
    this.chargeBytes(OBJECT_BYTES * 4);
    return new MapObject();
  }
  newSet(): SetObject {
    this.chargeBytes(OBJECT_BYTES * 4);
    return new SetObject();
  }
  newDate(time: number): DateObject {
    this.chargeBytes(OBJECT_BYTES);
    return new DateObject(time);
  }
  newIterator(target: ArrayObject | MapObject | SetObject | string, mode: 'keys' | 'values' | 'entries'): IteratorObject {
    this.chargeBytes(OBJECT_BYTES);
    return new IteratorObject(target, mode);
  }
  newError(kind: ErrorKind, message?: string, options?: { cause: Value }): ErrorObject {
    const hidden = newProperties();
    if (message !== undefined) hidden.message = message;
    if (options) hidden.cause = options.cause;
    this.chargeBytes(OBJECT_BYTES * 4 + (message?.length ?? 0));
    return new ErrorObject(kind, hidden, this.trace());
  }
  error(kind: ErrorKind, message: string): Error {
    return new FlowThrow(this.newError(kind, message));
  }
  thrown(value: Value): Error {
    return new FlowThrow(value);
  }

  private trace(): number[] {
    const trace: number[] = [];
    for (let at = this.frames.length - 1; at >= 0 && trace.length < TRACE_DEPTH; at--) {
      const frame = this.frames[at];
      if (frame instanceof Frame) trace.push(frame.code.index, frame.ip);
    }
    return trace;
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
  toString(value?: Value): string {
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
    if (key.length > LONGEST_HASHED) this.chargeKey();
    return key;
  }
  /** V8 hashes longer texts by their length alone, so that they all collide: looking one up may compare it with every other. */
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

  // Calls, iteration, surroundings ------------------------------------------------------------------------------------

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
  /** Asks something of the host. Effects stay in memory until the turn ends, so they count, and there is an end to them. */
  emit(effect: Effect, textLength = 0): void {
    const bytes = EFFECT_BYTES + textLength;
    this.chargeBytes(bytes);
    this.effectBytes += bytes;
    if (!this.closing && this.effects.length >= this.limits.pendingEffects * 4 + this.limits.logLines)
      throw this.limit('PENDING_EFFECTS', `${this.effects.length} effects in one turn`);
    this.effects.push(effect);
  }
  hold(values: readonly Value[]): void {
    const top = this.frames[this.frames.length - 1];
    if (top instanceof NativeFrame) top.held.push(values);
  }
  cancelCall(promise: PromiseObject): void {
    this.calls.cancelHandle(this, promise);
  }
  /** For the answers of durable calls. */
  fulfill(promise: PromiseObject, value: Value): void {
    fulfillPromise(this, promise, value);
  }
}
