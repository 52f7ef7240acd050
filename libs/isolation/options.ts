// How isolated flows are run.

import type { ChildPlace } from './child-place.js';

/** Durations are milliseconds. */
export interface IsolationOptions {
  /** Most processes at one time. Each runs one turn at a time. */
  processes: number;
  /** Resident memory at which a process is ended. */
  memoryBytes: number;
  /** How long a turn may take before its process is ended. */
  turnTimeoutMs: number;
  /** A process without work is ended after this. */
  idleMs: number;
  /** A process is replaced after this many turns. */
  turnsPerProcess: number;
  /** The program of the processes, if it is not the usual one. */
  place?: ChildPlace;
}

export const DEFAULT_ISOLATION: IsolationOptions = {
  processes: 2,
  memoryBytes: 536_870_912,
  turnTimeoutMs: 10_000,
  idleMs: 60_000,
  turnsPerProcess: 10_000,
};

// Of a process that does nothing: Node, our code and the watchdog.
const BASE_BYTES = 134_217_728;
// What a run of which the VM counts one byte may take at most; see SECURITY.md.
const BYTES_PER_COUNTED = 5;

/** The heap that the VM may count, so that its own limit, which fails the run, is reached before the process is ended. */
export function countedHeap(heapBytes: number, { memoryBytes }: Pick<IsolationOptions, 'memoryBytes'>): number {
  return Math.min(heapBytes, Math.floor((memoryBytes - BASE_BYTES) / BYTES_PER_COUNTED));
}

/** Node's own limit of the heap, in MiB: V8 collects garbage before it, and not only when the process is about to be ended. */
export function oldSpaceOf({ memoryBytes }: Pick<IsolationOptions, 'memoryBytes'>): number {
  return Math.max(32, Math.floor((memoryBytes - BASE_BYTES / 2) / 1_048_576));
}
