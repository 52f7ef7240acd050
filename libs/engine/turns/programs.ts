// Programs of workflows as the engine sees them: found by name, version and fingerprint, started and restored.

import type { FlowAllowList, FlowContext, FlowEvent, FlowHost, JsonText, TurnResult, WaitingPlace } from '../../flow/index.js';

/** A run in memory. */
export interface RunningFlow {
  /** `fuel`: of one slice, if not the usual one. */
  turn(events: readonly FlowEvent[], host: FlowHost, fuel?: number): TurnResult;
  /** After `suspended`. */
  snapshot(): string;
  /** Bytes that it holds, as the VM counts them: an upper bound. */
  readonly heapBytes: number;
  /** After `suspended`: what it waits for. */
  waitingPlaces(most: number): WaitingPlace[];
  /** Holds from the next durable call on. */
  setAllowList(allow: FlowAllowList): void;
  /** Of a run whose turns are run in a process of their own: `turn` returns `yielded`, and this waits for the outcome. */
  readonly elsewhere?: Elsewhere;
}

/** A turn that is run in another process. */
export interface Elsewhere {
  /** Rejects with TurnKilledError when the process was ended, TurnStoppedError after `stop`, FlowSnapshotError when the state cannot be used. */
  outcome(): Promise<Exclude<TurnResult, { status: 'yielded' }>>;
  /** Ends the turn: nothing is written. */
  stop(): void;
}

/** What limits the runs of a version of a workflow. */
export interface FlowRules {
  /** What they may name. */
  readonly allow: FlowAllowList;
  /** Their turns run in a process of their own. */
  readonly isolate: boolean;
}

/** A program that can be run. */
export interface RunnableProgram {
  /** False when no run of it ever waits for a signal. */
  readonly takesSignals: boolean;
  /** `numberAfter`: durable calls are numbered after this one; those up to it were given away by a turn that failed. */
  start(input: JsonText | undefined, context: FlowContext, numberAfter: number): RunningFlow;
  restore(snapshot: string, context: FlowContext, numberAfter: number): RunningFlow;
  /** The same program, run in processes of their own; `crashes` is how often in a row the run crashed what ran it. */
  isolated(crashes: number): Pick<RunnableProgram, 'start' | 'restore'>;
}

/** Finds programs. */
export interface ProgramLoader {
  /**
   * A program of a pinned version: the one with this fingerprint, or, for a run that has none yet, that of this process or the
   * newest. Undefined when there is no such program.
   */
  load(name: string, version: string, fingerprint?: string): Promise<RunnableProgram | undefined>;
  /** The version a new run of this workflow starts with; undefined when there is no such workflow. */
  resolve(name: string): Promise<string | undefined>;
  /** What limits the runs of a version; a promise when it must be read first. */
  rules(name: string, version: string): FlowRules | Promise<FlowRules>;
}
