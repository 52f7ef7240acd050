// What goes into one turn of a run and what comes out: the boundary between the VM and the code that stores its state.

/** JSON text, exactly as `JSON.stringify` would write the value. */
export type JsonText = string;

/** An error outside of the VM: plain data, readable by people and programs. */
export interface ErrorData {
  name: string;
  message: string;
  code?: string;
  /** Any JSON value that the thrower attached. */
  data?: unknown;
  attempts?: number;
  /** The flow's own stack (function, file, line, column), never the host's. */
  stack?: string;
  cause?: ErrorData;
}

/** What a run needs from its caller. Passed in, so that a turn can be repeated and simulated. */
export interface FlowHost {
  /** Milliseconds since the epoch; must not go back within a run. */
  now(): number;
  /** A number in [0, 1), for `Math.random`. */
  random(): number;
  /** For `crypto.randomUUID`. */
  uuid(): string;
}

/** What a flow sees as `Context`. */
export interface FlowContext {
  executionId: string;
  rootId: string;
  parentId: string | null;
  workflow: string;
  version: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  tags: readonly string[];
}

/** The tasks, workflows and queues that a flow may name; an absent list allows every name. */
export interface FlowAllowList {
  tasks?: readonly string[];
  workflows?: readonly string[];
  queues?: readonly string[];
}

/** Retry policy of a task call; what is absent is decided by the task's own declaration. */
export interface RetryOptions {
  maxAttempts?: number;
  backoff?: 'fixed' | 'exponential';
  delayMs?: number;
  maxDelayMs?: number;
  jitter?: boolean;
}

/** Options of `Task.run` after validation; durations are milliseconds. */
export interface TaskCallOptions {
  queue?: string;
  priority?: number;
  timeoutMs?: number;
  delayMs?: number;
  retry?: RetryOptions;
  idempotencyKey?: string;
}

/** Options of `Workflow.run` after validation. */
export interface WorkflowCallOptions {
  queue?: string;
  priority?: number;
  timeoutMs?: number;
  delayMs?: number;
  id?: string;
  detached?: boolean;
}

/**
 * What the flow asked for during a turn. `id` numbers the durable calls of a run from 1 in the order they were made;
 * it lives in the snapshot, so a turn that is run again from the same snapshot asks with the same numbers.
 */
export type Effect =
  | { kind: 'task'; id: number; name: string; input?: JsonText; options: TaskCallOptions }
  | { kind: 'workflow'; id: number; name: string; input?: JsonText; options: WorkflowCallOptions }
  /** Relative timers leave as a duration and are dated by the database; absolute ones carry their time. */
  | { kind: 'timer'; id: number; delayMs: number }
  | { kind: 'timer'; id: number; at: number }
  /** A wait for a signal; with a timeout the caller sends a `timeout` event when it is due. */
  | { kind: 'wait'; id: number; signal: string; timeoutMs?: number }
  /** A timer or wait that is over: forget it. */
  | { kind: 'withdraw'; id: number; reason: WithdrawalReason }
  /** `handle.cancel()` on a started task or child workflow. */
  | { kind: 'cancel'; id: number }
  | { kind: 'log'; level: 'debug' | 'log' | 'info' | 'warn' | 'error'; message: string; at: number };

/**
 * Why a timer or wait is over: a signal resolved it, its outcome cannot be observed any more because its race is decided, it was
 * cancelled alone or with its run, or the run has ended.
 */
export type WithdrawalReason = 'signalled' | 'lost' | 'cancelled' | 'ended';

/** What happened to a run since its last turn. One event is one macrotask; they are applied in the order given. */
export type FlowEvent =
  /** A task or child workflow finished; no `value` means `undefined`. */
  | { kind: 'completed'; id: number; value?: JsonText }
  | { kind: 'failed'; id: number; error: ErrorData }
  /** A timer is due. */
  | { kind: 'timer'; id: number }
  /** The timeout of a signal wait is due. */
  | { kind: 'timeout'; id: number }
  /** A signal; `key` is the caller's own id of it and comes back in `consumedSignals` when a wait took it. */
  | { kind: 'signal'; key: string; name: string; payload?: JsonText }
  /** Rejects every pending call. What the flow asked for earlier in the same turn is not started any more. */
  | { kind: 'cancel'; reason?: string };

/**
 * A hint when to wake a suspended run: none of the members can move it alone.
 * `all` closes when every member has completed or one failed, `settled` when every member has ended either way.
 */
export interface ResumeGroup {
  members: number[];
  until: 'all' | 'settled';
}

/** What a suspended run waits for at one place of its source. */
export interface WaitingPlace {
  readonly kind: 'signal' | 'timer' | 'task' | 'child';
  /** Of the signal, the task or the child workflow; empty for timers. */
  readonly name: string;
  /** From 1; null when no function awaits the call directly. */
  readonly line: number | null;
  readonly function: string | null;
  /** How many calls wait there for the same. */
  readonly calls: number;
}

/** A signal that a wait took: the caller's key of it, and the number of the wait. */
export interface ConsumedSignal {
  key: string;
  wait: number;
}

/** What every outcome of a turn carries. */
export interface TurnBase {
  /** Without the calls that were made in this turn before its cancel: those must not be started. */
  effects: Effect[];
  /** In the order they were taken; signals passed in and not listed here stay stored by the caller. */
  consumedSignals: ConsumedSignal[];
  /** Timers, and waits whose timeout was due, that fired in this turn; an event for one that was over is not among them. */
  fired: number[];
  /** Waits that still wait but take no signals from now on: their race is decided. Only their timeout and a cancel end them. */
  muted: number[];
  /** A cancel was applied in this turn; false when the main body had settled before it. */
  cancelled: boolean;
}

/**
 * The outcome of a turn. One that `failed` at a limit has log lines and no other effects: everything else is to stay as it was before the turn, which
 * a retry repeats. `yielded` carries nothing: call `turn` again (without events) to go on. */
export type TurnResult =
  | ({ status: 'completed'; output?: JsonText } & TurnBase)
  | ({ status: 'failed'; error: ErrorData } & TurnBase)
  | ({ status: 'suspended'; groups: ResumeGroup[] } & TurnBase)
  | { status: 'yielded' };
