// The virtual machine of one run: its frames, its calls and its jobs.

import type { FunctionCode, Program } from '../compile/program.js';
import type { FlowLimits } from '../limits.js';
import { CoercionMemo, toPrimitiveSteps } from './coerce.js';
import { interpret } from './dispatch.js';
import type { DurableCalls } from './durable-calls.js';
import { FlowThrow, LimitReached, NeedsCoercion } from './exceptions.js';
import { type AnyFrame, Frame, NativeFrame, newRegisters, SettleFrame } from './frame.js';
import { beginMeasurement, type Measurement } from './heap.js';
import { NativeMachine } from './machine.js';
import { FRAME_BYTES } from './memory.js';
import { type CallRequest, LONG, type NativeCall, type NativeDefinition, type NativeSteps, PAUSE, type Steps } from './native.js';
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
import { registry } from './registry.js';
import {
  type ArrayObject,
  BoundNative,
  FunctionObject,
  NativeFunction,
  PENDING,
  type PlainObject,
  PromiseObject,
  type Value,
} from './values.js';

/** Returned by `call` when the result comes later: a frame was pushed. */
export const PUSHED: unique symbol = Symbol('pushed');

const TRACE_DEPTH = 20;
const SMALL_FRAME = 64;
/** No number and no date is longer in any format. */
const LONGEST_UNCHARGED = 1_200;
/** Fuel of a heap measurement between two looks at the slice. */
const MEASURED_AT_ONCE = 20_000;

export class Vm extends NativeMachine {
  readonly frames: AnyFrame[] = [];
  /** Rejected promises without a handler so far. */
  readonly unhandled = new Set<PromiseObject>();
  /** The arrays that `join` is writing, outermost first: one that contains itself is left out. */
  readonly joining: ArrayObject[] = [];
  /** The main body's promise; when it settles the run is over. */
  main: PromiseObject = new PromiseObject();
  private jobs: Job[] = [];
  private nextJob = 0;
  /** Whether the latest snapshot held no object twice. */
  isTree = true;
  /** The result of the latest operator that finished at once. */
  result: Value = undefined;

  constructor(
    readonly program: Program,
    limits: FlowLimits,
    /** `Context`, as the flow sees it. */
    readonly context: PlainObject,
    readonly calls: DurableCalls,
  ) {
    super(limits);
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
    // One that paused where the slice ended; the dispatch loop resumes those that pause while it runs.
    const { frames } = this;
    if (frames.length > 0 && frames[frames.length - 1] instanceof NativeFrame) this.resumeNative();
    for (;;) {
      if (frames.length > 0) {
        interpret(this);
        if (frames.length > 0) return 'yielded';
      }
      if (this.main.state !== PENDING) return 'idle';
      if (this.nextJob === this.jobs.length) {
        if (this.nextJob > 0) {
          this.jobs = [];
          this.nextJob = 0;
        }
        return 'idle';
      }
      const job = this.jobs[this.nextJob];
      if (this.checkpoint(2)) return 'yielded';
      this.nextJob++;
      // A long chain of jobs would otherwise keep every finished one.
      if (this.nextJob >= 1024 && this.nextJob * 2 >= this.jobs.length) {
        this.jobs = this.jobs.slice(this.nextJob);
        this.nextJob = 0;
      }
      try {
        this.runJob(job);
      } catch (error) {
        this.raise(error);
      }
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

  /** What `then` throws rejects through the same once-only function that was passed to it. */
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

  /** Turns a host exception into a throw of the flow; limits and internal errors pass through. */
  raise(error: unknown): void {
    for (let thrown = error; ; ) {
      const value = this.thrownValue(thrown);
      try {
        this.unwind(value);
        return;
      } catch (next) {
        thrown = next;
      }
    }
  }

  private thrownValue(error: unknown): Value {
    if (error instanceof FlowThrow) return error.value;
    if (error instanceof LimitReached) throw error;
    if (error instanceof NeedsCoercion)
      return this.newError('TypeError', 'An object with its own toString or valueOf cannot be converted here');
    if (error instanceof RangeError && /call stack/i.test(error.message)) throw this.limit('FLOW_LIMIT_CALL_DEPTH', 'the host stack');
    if (error instanceof RangeError && /string length|array length/i.test(error.message))
      throw this.limit('FLOW_LIMIT_HEAP', `${this.limits.heapBytes} bytes of heap`);
    throw error;
  }

  // Calls -------------------------------------------------------------------------------------------------------------

  /** Calls any callable: returns its result, or PUSHED when a frame must run first. */
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
      if (construct) return this.callPlain(construct, constructSteps, undefined, args);
      if (constructSteps) return this.startSteps(constructSteps(this, undefined, args), undefined, args);
    }
    throw this.error('TypeError', `${what} is not a constructor`);
  }

  private callPlain(call: NativeCall, steps: NativeSteps | undefined, receiver: Value, args: readonly Value[]): Value | typeof PUSHED {
    const { memo } = this;
    memo.clear();
    try {
      const result = call(this, receiver, args);
      if (typeof result === 'string') this.chargeResult(result);
      return result === LONG ? this.startSteps(steps!(this, receiver, args), receiver, args) : result;
    } catch (error) {
      if (!(error instanceof NeedsCoercion)) throw error;
      if (steps) return this.startSteps(steps(this, receiver, args), receiver, args);
      this.memo = new CoercionMemo();
      return this.startSteps(this.retry(call, receiver, args, error, memo), receiver, args);
    }
  }

  /** Runs the coercions that a plain native asks for, one by one, calling it again with the results so far. */
  private *retry(call: NativeCall, receiver: Value, args: readonly Value[], first: NeedsCoercion, memo: CoercionMemo): Steps<Value> {
    for (let request = first; ; ) {
      memo.primitives.push(yield* toPrimitiveSteps(this, request.object, request.hint));
      // It reads all of them again.
      this.charge(2 + 4 * memo.primitives.length);
      const before = this.memo;
      this.memo = memo;
      memo.next = 0;
      try {
        return call(this, receiver, args) as Value;
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

  /** Runs a stepped native until it is done (its frame is popped), waits for a frame above it, or pauses because the slice is used up. */
  private step(frame: NativeFrame, sent: Value): Value | typeof PUSHED {
    let outcome = frame.steps.next(sent);
    for (;;) {
      if (outcome.done) {
        this.frames.pop();
        const { value } = outcome;
        if (typeof value === 'string') this.chargeResult(value);
        return value;
      }
      const asked = outcome.value;
      const result = asked === PAUSE ? undefined : this.call(asked.fn, asked.receiver, asked.args, 'callback');
      if (result === PUSHED) return PUSHED;
      // Even what calls only natives back, or nothing at all, stops between two slices. The dispatch loop notices.
      if (this.isDue) {
        frame.sent = result;
        return PUSHED;
      }
      outcome = frame.steps.next(result);
    }
  }

  /** Goes on with the native that paused. */
  resumeNative(): void {
    const { sent } = this.frames[this.frames.length - 1] as NativeFrame;
    this.guarded(() => this.deliver(sent));
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
    if (code.isAsync) this.chargeBytes(FRAME_BYTES + size * 8);
    else if (size > SMALL_FRAME) this.chargeBytes(size * 8);
  }

  checkDepth(): void {
    if (this.frames.length >= this.limits.callDepth)
      throw this.limit('FLOW_LIMIT_CALL_DEPTH', `${this.limits.callDepth} calls inside one another`);
  }

  /** Passes a result to the frame on top, and on to those below while natives finish at once. */
  deliver(value: Value): void {
    let result: Value | typeof PUSHED = value;
    const { frames } = this;
    // No element is read at -1: V8 looks such a key up by its name.
    while (frames.length > 0) {
      const top = frames[frames.length - 1];
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
          // Started by a caller that is still here: it gets the promise. Resumed by a job: nothing is below.
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

  /** A native that does not catch exits with the same exception, which then goes on to the frame below. */
  private throwInto(frame: NativeFrame, value: Value): Value | typeof PUSHED {
    let outcome: IteratorResult<CallRequest | typeof PAUSE, Value>;
    try {
      outcome = frame.steps.throw(new FlowThrow(value));
    } catch (error) {
      this.frames.pop();
      throw error;
    }
    if (outcome.done) {
      this.frames.pop();
      return outcome.value;
    }
    const asked = outcome.value;
    const result = asked === PAUSE ? undefined : this.call(asked.fn, asked.receiver, asked.args, 'callback');
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

  // For the meter and the natives -------------------------------------------------------------------------------------

  private measurement: Measurement | null = null;
  protected override measureReachable(): number | undefined {
    this.measurement ??= beginMeasurement(this);
    const { walk } = this.measurement;
    while (!walk.isDone) {
      if (this.isDue) return undefined;
      this.charge(walk.advance(MEASURED_AT_ONCE));
    }
    const { bytes } = this.measurement;
    this.measurement = null;
    return bytes;
  }

  protected override trace(): number[] {
    const trace: number[] = [];
    for (let at = this.frames.length - 1; at >= 0 && trace.length < TRACE_DEPTH; at--) {
      const frame = this.frames[at];
      if (frame instanceof Frame) trace.push(frame.code.index, frame.ip);
    }
    return trace;
  }

  override hold(values: readonly Value[]): void {
    const top = this.frames[this.frames.length - 1];
    if (top instanceof NativeFrame) top.held.push(values);
  }
  /** Short strings that a native makes of numbers and dates: it charges long ones itself, before it makes them. */
  private chargeResult(text: string): void {
    // V8 shares the strings of one Latin character.
    if (text.length > 1 || text.charCodeAt(0) > 0xff) this.chargeBytes(16 + Math.min(text.length, LONGEST_UNCHARGED));
  }
  cancelCall(promise: PromiseObject): void {
    this.calls.cancelHandle(this, promise);
  }
  /** Settles a durable call. */
  fulfill(promise: PromiseObject, value: Value): void {
    fulfillPromise(this, promise, value);
  }
}
