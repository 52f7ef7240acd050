// The durable calls of a run: their numbers, the promises that wait for them, and the events that settle them.

import { showDuration } from '../duration.js';
import type { ConsumedSignal, Effect, ErrorData, FlowAllowList, FlowEvent, WithdrawalReason } from '../turn.js';
import { errorFromData } from './error-data.js';
import { findLostCalls } from './lost-calls.js';
import { readPayload } from './payload.js';
import { type PendingCall, rejectPromise } from './promise.js';
import { type Node, pushReaction, walk } from './reach.js';
import type { PromiseObject } from './values.js';
import type { Vm } from './vm.js';

type CallEffect = Extract<Effect, { kind: 'task' | 'workflow' | 'timer' | 'wait' }>;
type SignalEvent = Extract<FlowEvent, { kind: 'signal' }>;

export class DurableCalls {
  /** Numbers the next call; part of the snapshot. */
  nextId = 1;
  readonly pending = new Map<number, PromiseObject>();
  /** Tasks and children whose outcome cannot be observed: only their failure is logged. */
  readonly forgotten = new Map<number, string>();
  /** Signals of this turn that no wait has taken yet, oldest first. */
  private signals: SignalEvent[] = [];
  /** What happened to calls in this turn, for a history: see `TurnBase`. */
  consumed: ConsumedSignal[] = [];
  fired: number[] = [];
  muted: number[] = [];
  /** A cancel was applied in this turn. */
  isCancelled = false;
  /** The first number that this turn assigned. */
  private firstId = 1;
  /** How many of the first `signals` no wait asks for: they are not checked again for every event. */
  private skippedSignals = 0;
  /** Names that some wait asks for; null when it must be rebuilt. */
  private awaitedNames: Set<string> | null = null;
  /** Waits that lost and take no signals; null when the flow has run since this was computed. */
  private lostWaits: ReadonlySet<PromiseObject> | null = null;
  /** Calls whose cancellation was requested: a second request has no effect. */
  private readonly cancelled = new Set<number>();

  constructor(public allow: FlowAllowList) {}

  /** Skips the numbers up to this one, if they are still ahead. */
  numberAfter(last = 0): void {
    this.nextId = Math.max(this.nextId, last + 1);
  }

  beginTurn(): void {
    this.signals = [];
    this.skippedSignals = 0;
    this.consumed = [];
    this.fired = [];
    this.muted = [];
    this.isCancelled = false;
    this.firstId = this.nextId;
  }

  /** Code of the flow has run: a call that was lost may be of use again, and vice versa. */
  moved(): void {
    if (!this.lostWaits) return;
    if (this.lostWaits.size > 0) {
      this.awaitedNames = null;
      this.skippedSignals = 0;
    }
    this.lostWaits = null;
  }

  promises(): Iterable<PromiseObject> {
    return this.pending.values();
  }

  /** Numbers a call and emits it. The effect object belongs to this call and gets its id here. */
  start(vm: Vm, name: string, effect: CallEffect): PromiseObject {
    if (this.pending.size + this.forgotten.size >= vm.limits.pendingEffects)
      throw vm.limit('FLOW_LIMIT_PENDING_EFFECTS', `${vm.limits.pendingEffects} pending durable calls at one time`);
    const id = this.nextId++;
    const promise = vm.newPromise();
    promise.durable = true;
    promise.call = { id, kind: effect.kind, name, timeoutMs: effect.kind === 'wait' ? effect.timeoutMs : undefined };
    this.pending.set(id, promise);
    if (effect.kind === 'wait') {
      this.skippedSignals = 0;
      this.awaitedNames = null;
    }
    effect.id = id;
    vm.emit(effect, name.length + ('input' in effect ? (effect.input?.length ?? 0) : 0));
    return promise;
  }

  // Events ------------------------------------------------------------------------------------------------------------

  /** Applies one event. An event of an unknown call (a late duplicate, a withdrawn timer) changes nothing. */
  apply(vm: Vm, event: FlowEvent): void {
    if (event.kind === 'signal') {
      this.signals.push(event);
      return;
    }
    if (event.kind === 'cancel') return this.cancelAll(vm, event.reason);
    const name = this.forgotten.get(event.id);
    if (name !== undefined) {
      this.forgotten.delete(event.id);
      if (event.kind === 'failed') vm.log('error', `${name}, which is not awaited, failed: ${event.error.name}: ${event.error.message}`);
      return;
    }
    const promise = this.pending.get(event.id);
    if (!promise || !settles(event, promise.call!)) return;
    const call = this.settle(promise);
    if (event.kind === 'timer' || event.kind === 'timeout') this.fired.push(call.id);
    if (event.kind === 'completed') vm.fulfill(promise, readPayload(vm, event.value));
    else if (event.kind === 'timer') vm.fulfill(promise, undefined);
    else if (event.kind === 'timeout') rejectPromise(vm, promise, vm.newError('TimeoutError', timeoutMessage(call)));
    else this.fail(vm, promise, event.error, call.kind);
  }

  private fail(vm: Vm, promise: PromiseObject, error: ErrorData, kind: PendingCall['kind']): void {
    rejectPromise(vm, promise, errorFromData(vm, error, kind === 'workflow' ? 'WorkflowError' : 'TaskError'));
  }

  private settle(promise: PromiseObject): PendingCall {
    const call = promise.call!;
    promise.call = null;
    this.pending.delete(call.id);
    this.cancelled.delete(call.id);
    if (call.kind === 'wait') this.awaitedNames = null;
    return call;
  }

  /** Gives the oldest signal that some wait asks for to the oldest such wait. False when there is none. */
  deliverSignal(vm: Vm): boolean {
    if (!this.isAwaited(vm)) return false;
    this.withdrawLost(vm);
    if (!this.isAwaited(vm)) return false;
    const signal = this.signals[this.skippedSignals];
    for (const promise of this.pending.values()) {
      vm.charge(1);
      const call = promise.call!;
      if (call.kind !== 'wait' || call.name !== signal.name || this.lostWaits!.has(promise)) continue;
      this.signals.splice(this.skippedSignals, 1);
      this.consumed.push({ key: signal.key, wait: call.id });
      this.settle(promise);
      this.withdrawEffect(vm, call.id, 'signalled');
      vm.fulfill(promise, readPayload(vm, signal.payload));
      return true;
    }
    throw new Error(`No wait asks for the signal "${signal.name}"`);
  }

  /**
   * Whether any wait asks for the next signal; skips those that none asks for. As long as it is not known which waits
   * lost, these count too: only a signal for one of them is worth the search.
   */
  private isAwaited(vm: Vm): boolean {
    if (this.skippedSignals === this.signals.length) return false;
    const names = this.awaitedNames ?? new Set<string>();
    if (!this.awaitedNames) {
      vm.charge(this.pending.size >> 4);
      for (const promise of this.pending.values()) {
        const { kind, name } = promise.call!;
        if (kind === 'wait' && !this.lostWaits?.has(promise)) names.add(name);
      }
      this.awaitedNames = names;
    }
    while (this.skippedSignals < this.signals.length && !names.has(this.signals[this.skippedSignals].name)) this.skippedSignals++;
    return this.skippedSignals < this.signals.length;
  }

  // Cancelling and withdrawing ----------------------------------------------------------------------------------------

  /** What was asked for earlier in this turn is not started any more; its numbers stay assigned. */
  private cancelAll(vm: Vm, reason: string | undefined): void {
    this.isCancelled = true;
    vm.effects = vm.effects.filter((effect) => effect.kind === 'log' || effect.id < this.firstId);
    for (const id of this.forgotten.keys()) if (id >= this.firstId) this.forgotten.delete(id);
    for (const promise of [...this.pending.values()]) {
      const { id, kind } = this.settle(promise);
      if (id < this.firstId && (kind === 'timer' || kind === 'wait')) this.withdrawEffect(vm, id, 'cancelled');
      rejectPromise(vm, promise, vm.newError('CancelledError', reason ?? 'The run was cancelled'));
    }
  }

  /** `handle.cancel()`. */
  cancelHandle(vm: Vm, promise: PromiseObject): void {
    if (!promise.call) return;
    const { id, kind } = promise.call;
    if (kind === 'task' || kind === 'workflow') {
      if (!this.cancelled.has(id)) vm.emit({ kind: 'cancel', id });
      this.cancelled.add(id);
      return;
    }
    this.settle(promise);
    this.withdrawEffect(vm, id, 'cancelled');
    rejectPromise(vm, promise, vm.newError('CancelledError', 'The wait was cancelled'));
  }

  private withdrawEffect(vm: Vm, id: number, reason: WithdrawalReason): void {
    vm.emit({ kind: 'withdraw', id, reason });
  }

  /**
   * Finds the calls that lost. Waits among them take no signals any more; a timer or wait whose outcome cannot be
   * observed is withdrawn, and of such a task only the name is kept.
   */
  private withdrawLost(vm: Vm): void {
    if (this.lostWaits) return;
    const { lost, unobservable, size } = findLostCalls(this.pending, vm.main);
    vm.charge(size >> 4);
    const waits = new Set<PromiseObject>();
    for (const promise of lost) {
      const { id, kind, name } = promise.call!;
      if (!unobservable.has(promise)) {
        if (kind === 'wait') waits.add(promise);
        continue;
      }
      this.settle(promise);
      if (kind === 'timer' || kind === 'wait') this.withdrawEffect(vm, id, 'lost');
      else this.forgotten.set(id, `${kind === 'task' ? 'Task' : 'Workflow'} "${name}"`);
    }
    if (waits.size > 0) this.awaitedNames = null;
    this.lostWaits = waits;
  }

  /** Before the run is stored: withdraws what lost and records which waits stop taking signals. */
  suspend(vm: Vm): void {
    this.withdrawLost(vm);
    for (const promise of this.pending.values()) {
      const call = promise.call!;
      const isLost = this.lostWaits!.has(promise);
      if (isLost && !call.muted) this.muted.push(call.id);
      if (isLost || call.muted) call.muted = isLost;
    }
  }

  /** Whether any event but a cancel can move the run: a wait that lost is moved by its timeout only. */
  canMove(): boolean {
    for (const promise of this.pending.values()) {
      if (!this.lostWaits?.has(promise) || promise.call!.timeoutMs !== undefined) return true;
    }
    return false;
  }

  /** Everything that a branch which can still move may touch. */
  reachable(): Set<object> {
    return walk(this.waiters());
  }

  /** How many async functions wait for something that may still come. */
  waitingBranches(): number {
    let count = 0;
    walk(this.waiters(), { frame: () => count++ });
    return count;
  }

  private waiters(): Node[] {
    const roots: Node[] = [];
    for (const promise of this.pending.values()) {
      for (const reaction of promise.reactions ?? []) pushReaction(reaction, (node) => roots.push(node));
    }
    return roots;
  }

  /** The end of the run: waits are withdrawn, started tasks finish on their own. */
  close(vm: Vm): void {
    for (const promise of [...this.pending.values()]) {
      const { id, kind } = this.settle(promise);
      if (kind === 'timer' || kind === 'wait') this.withdrawEffect(vm, id, 'ended');
    }
  }
}

function timeoutMessage({ name, timeoutMs }: PendingCall): string {
  // Runs stored before snapshots kept the timeout do not have it.
  return `No signal "${name}" arrived ${timeoutMs === undefined ? 'in time' : `within ${showDuration(timeoutMs)}`}`;
}

function settles(event: FlowEvent, call: PendingCall): boolean {
  switch (event.kind) {
    case 'completed':
    case 'failed':
      return call.kind === 'task' || call.kind === 'workflow';
    case 'timer':
      return call.kind === 'timer';
    case 'timeout':
      return call.kind === 'wait';
    default:
      return false;
  }
}
