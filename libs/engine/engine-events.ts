// The one stream of what happens in the engine: logs, metrics, traces, the dashboard and tests subscribe here.

import type { PendingDescription } from '../flow/index.js';
import { InvalidArgumentError } from './errors.js';

/** What every event of an execution contains about it. */
export interface ExecutionFacts {
  executionId: string;
  /** The name of the task or workflow. */
  name: string;
  kind: 'task' | 'workflow';
  queue: string;
  /** The pinned version of a workflow; null for a task. */
  version: string | null;
  parentId: string | null;
}

/** What an event contains of an error: never its data, which is a payload. */
export interface ErrorFacts {
  name: string;
  message: string;
  code?: string;
}

/** A loop that does periodic work: `claim`, `timers`, `heartbeat`, `vacuum` or `retention`. */
export interface LoopStatus {
  readonly name: string;
  /** The longest wait between two passes when nothing fails; most loops are woken earlier when there is something to do. */
  readonly everyMs: number;
  /** Passes so far. The object is updated while the loop runs. */
  readonly passes: number;
}

/**
 * Something that happened in this process. An event of an execution is emitted after the commit that made it true; `started` and
 * `resumed` when the work begins.
 */
export type EngineEvent =
  | { type: 'worker-started'; workerId: string }
  | { type: 'worker-stopped'; workerId: string }
  | { type: 'worker-declared-dead'; workerId: string }
  /** A loop of the worker runs, or has ended. */
  | { type: 'loop-started'; loop: LoopStatus }
  | { type: 'loop-stopped'; loop: LoopStatus }
  /** Executions were taken from a queue, or were claimed in the commit that made them. */
  | { type: 'claimed'; workerId: string; count: number }
  /** An attempt of a task begins, or the first turn of a workflow. */
  | ({ type: 'started'; attempt: number } & ExecutionFacts)
  /** A later turn of a workflow begins. A turn that is not written is run again. */
  | ({ type: 'resumed' } & ExecutionFacts)
  /**
   * A turn of a workflow was written, and the run waits. `waitsFor` is read from the stored state when it is asked for; `note` is
   * what else keeps the run from moving, such as a program that the database does not have.
   */
  | ({ type: 'suspended'; readonly waitsFor: readonly PendingDescription[]; note: string | null } & ExecutionFacts)
  /**
   * `attempts`: the attempts of a task that failed, and the one that completed; an attempt that a cancel or a time limit of the
   * whole task cut off is not counted. 1 for a workflow. `durationMs`: since the claim of the last attempt of a task, since the
   * start of a workflow; null when the task did not run, or ran in another process.
   */
  | ({ type: 'finished'; status: 'completed' | 'failed' | 'cancelled'; attempts: number; durationMs: number | null } & ExecutionFacts)
  /** An execution failed for good, and with which error; `finished` is emitted too. `attempts` as in `finished`. */
  | ({ type: 'failed'; attempts: number; error: ErrorFacts } & ExecutionFacts)
  /** An attempt failed, and the next one begins after the delay. */
  | ({ type: 'retried'; attempt: number; delayMs: number; error: ErrorFacts } & ExecutionFacts)
  /** What this worker did for it was dropped: another one has it. */
  | ({ type: 'lost' } & ExecutionFacts)
  /** It has crashed its workers too often, and was failed. */
  | ({ type: 'quarantined'; crashes: number } & ExecutionFacts)
  /** Its stored state is larger than `limits.snapshotWarnBytes`. */
  | ({ type: 'snapshot-large'; bytes: number } & ExecutionFacts)
  /** A wait of the run took a signal. */
  | ({ type: 'signal-taken'; signal: string; call: number } & ExecutionFacts)
  /** A timer of the run, or the timeout of one of its waits, fired. */
  | ({ type: 'timer-fired'; call: number } & ExecutionFacts)
  /** This process stored a signal; `executionId` is its target. */
  | { type: 'signal-sent'; executionId: string; signal: string }
  /** This worker declared the worker dead and gave its executions back to their queues. */
  | { type: 'recovered'; workerId: string; executions: string[] }
  /** Something failed that is tried again or given up; the engine goes on. */
  | { type: 'problem'; where: string; error: unknown };

export type EngineEventType = EngineEvent['type'];

const TYPES: Record<EngineEventType, true> = {
  'worker-started': true,
  'worker-stopped': true,
  'worker-declared-dead': true,
  'loop-started': true,
  'loop-stopped': true,
  claimed: true,
  started: true,
  resumed: true,
  suspended: true,
  finished: true,
  failed: true,
  retried: true,
  lost: true,
  recovered: true,
  quarantined: true,
  'snapshot-large': true,
  'signal-sent': true,
  'signal-taken': true,
  'timer-fired': true,
  problem: true,
};

type Listener<Type extends EngineEventType> = (event: Extract<EngineEvent, { type: Type }>) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: a listener is called only with events of the types it subscribed to
type AnyListener = (event: any) => unknown;

/** The stream. An error that a listener throws, or its promise is rejected with, is reported as a problem; the others are called anyway. */
export class EngineEvents {
  private readonly listeners = new Map<EngineEventType, Set<AnyListener>>();
  private readonly every = new Set<AnyListener>();

  /** Calls back for these types of events, or for all of them. Returns the function that ends it. */
  subscribe(listener: (event: EngineEvent) => unknown): () => void;
  subscribe<Type extends EngineEventType>(types: readonly Type[], listener: Listener<Type>): () => void;
  subscribe(...given: [AnyListener] | [readonly EngineEventType[], AnyListener]): () => void {
    const listener = given[given.length - 1] as AnyListener;
    checkSubscription(given);
    const sets = given.length === 1 ? [this.every] : given[0].map((type) => this.setOf(type));
    for (const set of sets) set.add(listener);
    return () => {
      for (const set of sets) set.delete(listener);
    };
  }

  /** Whether there is a listener for this type. If not, the hot path does not make the event. */
  hasListeners(type: EngineEventType): boolean {
    return this.every.size > 0 || (this.listeners.get(type)?.size ?? 0) > 0;
  }

  emit(event: EngineEvent): void {
    for (const listener of this.listeners.get(event.type) ?? []) this.call(listener, event);
    for (const listener of this.every) this.call(listener, event);
  }

  private setOf(type: EngineEventType): Set<AnyListener> {
    const set = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, set);
    return set;
  }

  private call(listener: AnyListener, event: EngineEvent): void {
    try {
      const returned = listener(event);
      if (returned instanceof Promise) returned.catch((error) => this.failed(event, error));
    } catch (error) {
      this.failed(event, error);
    }
  }

  private failed(event: EngineEvent, error: unknown): void {
    if (event.type !== 'problem') this.emit({ type: 'problem', where: 'a listener of the engine events', error });
  }
}

function checkSubscription(given: readonly unknown[]): void {
  const known = Object.keys(TYPES);
  if (given.length > 1) {
    const [types] = given;
    if (!Array.isArray(types))
      throw invalid('types', `is not an array of event types. Give [${known.map((type) => `'${type}'`).join(', ')}], or some of them`);
    for (const type of types)
      if (!known.includes(type)) throw invalid('types', `has "${String(type)}", which is no event. Events: ${known.join(', ')}`);
  }
  if (typeof given[given.length - 1] !== 'function') throw invalid('listener', 'is not a function');
}

function invalid(path: string, what: string): InvalidArgumentError {
  return new InvalidArgumentError('RHYTHM_OPTION_INVALID', path, `subscribe(): ${path} ${what}.`);
}
