// Programs of workflows as the engine sees them: found by name, version and fingerprint, started and restored.

import type { FlowAllowList, FlowContext, FlowEvent, FlowHost, JsonText, TurnResult, WaitingPlace } from '../../flow/index.js';

/** A run in memory. */
export interface RunningFlow {
  turn(events: readonly FlowEvent[], host: FlowHost): TurnResult;
  /** After `suspended`. */
  snapshot(): string;
  /** After `suspended`: what it waits for. */
  waitingPlaces(most: number): WaitingPlace[];
  /** Holds from the next durable call on. */
  setAllowList(allow: FlowAllowList): void;
}

/** A program that can be run. */
export interface RunnableProgram {
  /** False when no run of it ever waits for a signal. */
  readonly takesSignals: boolean;
  /** `numberAfter`: durable calls are numbered after this one; those up to it were given away by a turn that failed. */
  start(input: JsonText | undefined, context: FlowContext, numberAfter: number): RunningFlow;
  restore(snapshot: string, context: FlowContext, numberAfter: number): RunningFlow;
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
  /** What the runs of a version may name; a promise when it must be read first. */
  allowList(name: string, version: string): FlowAllowList | Promise<FlowAllowList>;
}
