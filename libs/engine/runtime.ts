// Clock, timers, ids and randomness of the engine, in one place: a simulation passes its own.

import { newFence, newId, newSecret } from '../store/index.js';

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void;
}

/** What the engine takes from the process around it. */
export interface Runtime {
  /** Milliseconds of a clock that never goes back. Only differences mean something. */
  monotonicNow(): number;
  /** Calls back once, not before this many milliseconds have passed. A background timer does not keep the process alive. */
  setTimer(ms: number, callback: () => void, background?: boolean): Timer;
  /** Calls back after the I/O that is due now. */
  setImmediate(callback: () => void): void;
  /** An id that sorts by time (UUIDv7). */
  newId(): string;
  /** A random number for executions that change hands. */
  newFence(): number;
  /** A string that cannot be guessed. */
  newSecret(): string;
  /** A random UUID. */
  randomUuid(): string;
  /** A number in [0, 1). */
  random(): number;
}

// setTimeout fires at once beyond this. For a longer time the caller sets the timer again when it fires.
const LONGEST_MS = 2_147_483_647;

/** The runtime of a real process. */
export const REAL_RUNTIME: Runtime = {
  monotonicNow: () => performance.now(),
  setTimer(ms, callback, background = false) {
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_MS));
    if (background) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  setImmediate: (callback) => void setImmediate(callback),
  newId,
  newFence,
  newSecret,
  randomUuid: () => crypto.randomUUID(),
  random: Math.random,
};

/** Resolves after this many milliseconds. */
export function sleep(runtime: Runtime, ms: number, background = false): Promise<void> {
  return new Promise((resolve) => {
    runtime.setTimer(ms, resolve, background);
  });
}

/** Resolves after the I/O that is due now. */
export function nextTick(runtime: Runtime): Promise<void> {
  return new Promise((resolve) => {
    runtime.setImmediate(resolve);
  });
}
