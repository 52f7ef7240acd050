// One run of a program: turns go in as events and come out as effects, until the main body settles.

import type { Program } from './compile/program.js';
import { RUN_ERRORS } from './diagnostics/error-codes.js';
import { FlowError } from './errors.js';
import { readSnapshot } from './snapshot/read.js';
import { SnapshotWriter, writeSnapshot } from './snapshot/write.js';
import type { ErrorData, FlowAllowList, FlowEvent, FlowHost, JsonText, TurnBase, TurnResult, WaitingPlace } from './turn.js';
import { errorToData, headOf } from './vm/error-data.js';
import { FlowThrow, LimitReached } from './vm/exceptions.js';
import { resumeGroups } from './vm/groups.js';
import { newVm, type RunOptions } from './vm/new-vm.js';
import { readPayload, writePayload } from './vm/payload.js';
import { FunctionObject, PENDING, type PromiseObject, REJECTED } from './vm/values.js';
import type { Vm } from './vm/vm.js';
import { waitingPlaces } from './vm/waits.js';

type FailedTurn = Extract<TurnResult, { status: 'failed' }>;

/** A run in memory. */
export class FlowRun {
  private events: FlowEvent[] = [];
  private nextEvent = 0;
  private mayHaveMoved = true;
  private inTurn = false;
  private text: string | null = null;
  /** The turn is over but for its snapshot. */
  private writer: SnapshotWriter | null = null;
  private ended = false;

  /** @internal Use `startRun` or `restoreRun`. `begin` is the work before the first instruction; it may reach a limit. */
  constructor(
    private readonly vm: Vm,
    private begin: (() => void) | null = null,
  ) {}

  /**
   * Applies the events in their order, one macrotask each, and runs until nothing can move. After `yielded` the turn is not
   * over: call again without events. `fuel` is that of one slice.
   */
  turn(events: readonly FlowEvent[], host: FlowHost, fuel = this.vm.limits.fuelPerSlice): TurnResult {
    const { vm } = this;
    if (this.ended) throw new FlowError('FLOW_RUN_ENDED', 'The run has ended; it takes no more turns.');
    vm.host = host;
    if (!this.inTurn) this.beginTurn();
    // One by one: a spread of very many signals would overflow the host's stack.
    for (const event of events) this.events.push(event);
    vm.startSlice(fuel);
    try {
      if (this.writer) return this.store(this.writer, fuel);
      this.begin?.();
      this.begin = null;
      for (;;) {
        if (vm.drain() === 'yielded') return { status: 'yielded' };
        if (vm.main.state !== PENDING) return this.finish();
        // A signal that no wait asks for moves nothing: a flood of them must not walk the heap each time.
        if (this.mayHaveMoved) {
          this.failOnUnhandled();
          vm.calls.moved();
        }
        this.mayHaveMoved = true;
        if (vm.calls.deliverSignal(vm)) continue;
        const event = this.events[this.nextEvent];
        if (!event) break;
        this.nextEvent++;
        this.mayHaveMoved = event.kind !== 'signal';
        vm.guarded(() => vm.calls.apply(vm, event));
      }
      return this.suspend(fuel);
    } catch (error) {
      vm.allowClosing();
      const failed = this.fail(this.dataOf(error));
      return error instanceof LimitReached && error.code !== 'FLOW_STUCK' ? withoutEffects(failed) : failed;
    }
  }

  /** Bytes of heap, as the VM counts them: an upper bound that includes what is garbage by now. */
  get heapBytes(): number {
    return this.vm.heapBytes;
  }

  /** The state after `suspended`, as JSON text. */
  snapshot(): string {
    if (this.inTurn || this.ended)
      throw new FlowError('FLOW_NOT_SUSPENDED', 'A snapshot can only be taken after a turn that returned "suspended".');
    const text = this.text ?? writeSnapshot(this.vm);
    this.text = text;
    return text;
  }

  /** What the run waits for after `suspended`, at most `most` places of its source. Reads the VM and changes nothing. */
  waitingPlaces(most: number): WaitingPlace[] {
    if (this.inTurn || this.ended) throw new FlowError('FLOW_NOT_SUSPENDED', 'A run waits only after a turn that returned "suspended".');
    return waitingPlaces(this.vm.calls.promises(), most);
  }

  /** Replaces the allow-list. It is not part of the snapshot, and may change while the run stays in memory. */
  setAllowList(allow: FlowAllowList): void {
    this.vm.calls.allow = allow;
  }

  private beginTurn(): void {
    const { vm } = this;
    this.inTurn = true;
    this.text = null;
    vm.fuel = vm.limits.fuelPerTurn;
    vm.logsLeft = vm.limits.logLines;
    vm.effects = [];
    vm.effectBytes = 0;
    vm.calls.beginTurn();
  }

  private endTurn(): TurnBase {
    this.inTurn = false;
    this.events = [];
    this.nextEvent = 0;
    const { consumed, fired, muted, isCancelled } = this.vm.calls;
    return { effects: this.vm.effects, consumedSignals: consumed, fired, muted, cancelled: isCancelled };
  }

  private suspend(fuel: number): TurnResult {
    const { vm } = this;
    vm.calls.suspend(vm);
    if (!vm.calls.canMove())
      throw new LimitReached(
        'FLOW_STUCK',
        `The run waits for a promise that nothing can settle any more: no task, timer or signal is pending. ${RUN_ERRORS.FLOW_STUCK.advice}`,
      );
    return this.store(new SnapshotWriter(vm), fuel);
  }

  private store(writer: SnapshotWriter, fuel: number): TurnResult {
    const { vm } = this;
    this.writer = writer;
    const text = writer.advance(fuel);
    if (text === undefined) return { status: 'yielded' };
    this.writer = null;
    const base = this.endTurn();
    if (text.length > vm.limits.snapshotBytes)
      throw vm.limit('FLOW_LIMIT_SNAPSHOT', `${vm.limits.snapshotBytes} characters of snapshot (it has ${text.length})`);
    this.text = text;
    return { status: 'suspended', groups: resumeGroups(vm), ...base };
  }

  private finish(): TurnResult {
    const { vm } = this;
    if (vm.main.state === REJECTED) throw new FlowThrow(vm.main.value);
    const output = writePayload(vm, vm.main.value, 'The return value', vm.limits.payloadBytes);
    vm.allowClosing();
    this.close();
    return { status: 'completed', ...(output === undefined ? {} : { output }), ...this.endTurn() };
  }

  private fail(error: ErrorData): FailedTurn {
    this.close();
    return { status: 'failed', error, ...this.endTurn() };
  }

  /** The run is over: other branches are dropped and logged, waits are withdrawn, started tasks finish on their own. */
  private close(): void {
    const { vm } = this;
    this.ended = true;
    vm.unhandled.delete(vm.main);
    vm.logsLeft = Math.max(vm.logsLeft, 1);
    for (const promise of vm.unhandled) {
      if (promise.handled) continue;
      if (vm.logsLeft < 0) break;
      const { name, message } = headOf(vm, promise.value);
      vm.log('error', `The run ended with an unhandled rejection: ${name}: ${message}`);
    }
    const branches = vm.calls.waitingBranches();
    if (branches > 0)
      vm.log('warn', `The run ended and dropped ${branches === 1 ? 'a branch that was' : `${branches} branches that were`} still waiting.`);
    vm.calls.close(vm);
  }

  /** A rejected promise that no code can handle any more fails the run; of a fire-and-forget task it is only logged. */
  private failOnUnhandled(): void {
    const { vm } = this;
    if (vm.unhandled.size === 0) return;
    const reachable = vm.calls.reachable();
    vm.charge(reachable.size >> 4);
    for (const promise of vm.unhandled) {
      if (promise.handled) vm.unhandled.delete(promise);
      else if (!reachable.has(promise)) {
        vm.unhandled.delete(promise);
        if (!promise.durable) throw new FlowThrow(promise.value);
        const { name, message } = headOf(vm, promise.value);
        vm.log('error', `A durable call that is not awaited failed: ${name}: ${message}`);
      }
    }
  }

  private dataOf(error: unknown): ErrorData {
    if (error instanceof FlowThrow) return errorToData(this.vm, error.value);
    if (error instanceof LimitReached)
      return { name: error.code === 'FLOW_STUCK' ? 'StuckError' : 'LimitError', code: error.code, message: error.message };
    // A bug in the VM must fail this run, not the worker that runs many.
    const message = error instanceof Error ? error.message : String(error);
    return {
      name: 'InternalError',
      code: 'FLOW_INTERNAL',
      message: `The virtual machine failed: ${message}. ${RUN_ERRORS.FLOW_INTERNAL.advice}`,
    };
  }
}

// A limit commits nothing but its log lines, so that a retry repeats the turn. That it applied a cancel stays: such a run is over.
function withoutEffects(failed: FailedTurn): FailedTurn {
  const effects = failed.effects.filter(({ kind }) => kind === 'log');
  return { ...failed, effects, consumedSignals: [], fired: [], muted: [] };
}

export function startRun(program: Program, options: RunOptions & { readonly inputs?: JsonText }): FlowRun {
  const vm = newVm(program, options);
  vm.calls.numberAfter(options.numberAfter);
  return new FlowRun(vm, () => {
    const inputs = readPayload(vm, options.inputs);
    vm.pushFrame(new FunctionObject(program.functions[0], []), [inputs]);
    const frame = vm.frames[0] as { promise: PromiseObject | null };
    vm.main = frame.promise!;
    // Its rejection is the failure of the run, which is reported.
    vm.main.handled = true;
  });
}

/**
 * Continues a run where its snapshot was taken; throws FlowSnapshotError when the text is damaged, belongs to another program or
 * was written by a newer release of this package.
 */
export function restoreRun(program: Program, snapshot: string, options: RunOptions): FlowRun {
  const vm = newVm(program, options);
  vm.main.handled = true;
  readSnapshot(vm, snapshot);
  vm.calls.numberAfter(options.numberAfter);
  return new FlowRun(vm);
}
