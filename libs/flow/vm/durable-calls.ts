// The durable calls of a run: their numbers, who waits for them, and what the surroundings answer.

import { showDuration } from '../duration.js';
import type { ConsumedSignal, Effect, ErrorData, FlowAllowList, FlowEvent, WithdrawalReason } from '../turn.js';
import { readBorderJson } from './border-json.js';
import { errorFromData } from './error-data.js';
import { findLostCalls } from './lost-calls.js';
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
  /** Tasks and children that nobody can observe: only their failure is logged. */
  readonly forgotten = new Map<number, string>();
  /** Signals of this turn that no wait has taken yet, oldest first. */
  private signals: SignalEvent[] = [];
  /** What happened to calls in this turn, for a history: see `TurnBase`. */
  consumed: ConsumedSignal[] = [];
  fired: number[] = [];
  muted: number[] = [];
  /** A cancel was applied in this turn. */
  isCancelled = false;
  /** The first number that this turn gave away. */
  private firstId = 1;
  /** So many of the first `signals` are of names that no wait asks for: they need not be looked at for every event. */
  private unanswerable = 0;
  /** Names that some wait asks for; null when it must be made anew. */
  private awaitedNames: Set<string> | null = null;
  /** Waits that lost and take no signals; null when the flow has run since it was found out. */
  private lostWaits: ReadonlySet<PromiseObject> | null = null;
  /** Calls whose cancellation was asked for: asking again says nothing new. */
  private readonly cancelled = new Set<number>();

  constructor(public allow: FlowAllowList) {}

  /** Skips the numbers up to this one, if they are not behind already. */
  numberAfter(last = 0): void {
    this.nextId = Math.max(this.nextId, last + 1);
  }

  beginTurn(): void {
    this.signals = [];
    this.unanswerable = 0;
    this.consumed = [];
    this.fired = [];
    this.muted = [];
    this.isCancelled = false;
    this.firstId = this.nextId;
  }

  /** Code of the flow has run: what was lost may be of use again, and the other way round. */
  moved(): void {
    if (!this.lostWaits) return;
    if (this.lostWaits.size > 0) {
      this.awaitedNames = null;
      this.unanswerable = 0;
    }
    this.lostWaits = null;
  }

  promises(): Iterable<PromiseObject> {
    return this.pending.values();
  }

  /** Numbers a call and lets it out. The effect is made for this call and is given its number here. */
  start(vm: Vm, name: string, effect: CallEffect): PromiseObject {
    if (this.pending.size + this.forgotten.size >= vm.limits.pendingEffects)
      throw vm.limit('FLOW_LIMIT_PENDING_EFFECTS', `${vm.limits.pendingEffects} durable calls that are unanswered at one time`);
    const id = this.nextId++;
    const promise = vm.newPromise();
    promise.durable = true;
    promise.call = { id, kind: effect.kind, name, timeoutMs: effect.kind === 'wait' ? effect.timeoutMs : undefined };
    this.pending.set(id, promise);
    if (effect.kind === 'wait') {
      this.unanswerable = 0;
      this.awaitedNames = null;
    }
    effect.id = id;
    vm.emit(effect, name.length + ('input' in effect ? (effect.input?.length ?? 0) : 0));
    return promise;
  }

  // Answers -----------------------------------------------------------------------------------------------------------

  /** Applies one event. What is unknown (a late duplicate, a withdrawn timer) changes nothing. */
  apply(vm: Vm, event: FlowEvent): void {
    if (event.kind === 'signal') {
      this.signals.push(event);
      return;
    }
    if (event.kind === 'cancel') return this.cancelAll(vm, event.reason);
    const name = this.forgotten.get(event.id);
    if (name !== undefined) {
      this.forgotten.delete(event.id);
      if (event.kind === 'failed') vm.log('error', `${name}, which nobody waits for, failed: ${event.error.name}: ${event.error.message}`);
      return;
    }
    const promise = this.pending.get(event.id);
    if (!promise || !answers(event, promise.call!)) return;
    const call = this.settle(promise);
    if (event.kind === 'timer' || event.kind === 'timeout') this.fired.push(call.id);
    if (event.kind === 'completed') vm.fulfill(promise, readBorderJson(vm, event.value));
    else if (event.kind === 'timer') vm.fulfill(promise, undefined);
    else if (event.kind === 'timeout') rejectPromise(vm, promise, vm.newError('TimeoutError', lateness(call)));
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
    const signal = this.signals[this.unanswerable];
    for (const promise of this.pending.values()) {
      vm.charge(1);
      const call = promise.call!;
      if (call.kind !== 'wait' || call.name !== signal.name || this.lostWaits!.has(promise)) continue;
      this.signals.splice(this.unanswerable, 1);
      this.consumed.push({ key: signal.key, wait: call.id });
      this.settle(promise);
      this.withdrawEffect(vm, call.id, 'answered');
      vm.fulfill(promise, readBorderJson(vm, signal.payload));
      return true;
    }
    throw new Error(`No wait asks for the signal "${signal.name}"`);
  }

  /**
   * Whether any wait asks for the next signal; passes over those that none asks for. As long as it is not known which waits
   * lost, these count too: only a signal for one of them is worth the search.
   */
  private isAwaited(vm: Vm): boolean {
    if (this.unanswerable === this.signals.length) return false;
    const names = this.awaitedNames ?? new Set<string>();
    if (!this.awaitedNames) {
      vm.charge(this.pending.size >> 4);
      for (const promise of this.pending.values()) {
        const { kind, name } = promise.call!;
        if (kind === 'wait' && !this.lostWaits?.has(promise)) names.add(name);
      }
      this.awaitedNames = names;
    }
    while (this.unanswerable < this.signals.length && !names.has(this.signals[this.unanswerable].name)) this.unanswerable++;
    return this.unanswerable < this.signals.length;
  }

  // Cancelling and withdrawing ----------------------------------------------------------------------------------------

  /** What was asked for earlier in this turn is not started any more; its numbers stay given away. */
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
   * Finds the calls that lost. Waits among them take no signals any more; a timer or wait whose end nobody could observe is
   * forgotten, and of a task of that kind only the name is kept.
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

  /** Before the run is stored: gives up what lost and notes which waits stop taking signals. */
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

function lateness({ name, timeoutMs }: PendingCall): string {
  // Runs that were stored before snapshots kept the time have none.
  return `No signal "${name}" came ${timeoutMs === undefined ? 'in time' : `within ${showDuration(timeoutMs)}`}`;
}

function answers(event: FlowEvent, call: PendingCall): boolean {
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
