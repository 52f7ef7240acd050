// Turns that do not end in their first slice: they take turns, get at most half of the thread, and wait while too much is in memory.

import type { FlowHost } from '../../flow/index.js';
import type { Committer } from '../commit/committer.js';
import { nextTick, type Runtime, sleep } from '../runtime.js';
import type { HeldWork } from '../work/held-work.js';
import type { RunningFlow } from './programs.js';
import type { FinishedTurn } from './turn-outcome.js';

// Fuel is counted, and what a unit takes differs between flows and machines, so the fuel of a slice follows the clock.
const SLICE_MS = 1;
const [LEAST_FUEL, MOST_FUEL] = [2_000, 50_000];
// How long the thread is left to others after a slice, for each millisecond of it: at least as long as the slice took, so that long turns
// get half of it, and longer while this worker has other work. Neighbours then wait for fewer slices, each up to a collection of garbage long.
const REST = 1;
const REST_BESIDE_OTHERS = 3;
// How soon it is looked again whether enough of what waits to be written is written.
const LOOK_AGAIN_MS = 5;

/** A turn was not finished in the time that its caller gave it. It can be run again from the stored state. */
export class TurnGivenUpError extends Error {}

interface LongTurn {
  readonly flow: RunningFlow;
  readonly host: FlowHost;
  /** Of its next slice. */
  fuel: number;
  /** When it is given up, by the monotonic clock. */
  readonly until: number;
  resolve(result: FinishedTurn): void;
  reject(error: unknown): void;
}

export class LongTurns {
  /** The one that began first is first. */
  private readonly turns: LongTurn[] = [];
  /** Whose slice is next. */
  private next = 0;
  private isRunning = false;

  constructor(
    private readonly runtime: Runtime,
    /** What turns of this worker may hold together, in bytes as the VM counts them. */
    private readonly mostBytes: number,
    private readonly committer: Pick<Committer, 'backlogBytes'>,
    private readonly held: Pick<HeldWork, 'size'>,
    /** Aborted when nothing is written any more: what still runs is dropped, and its promises stay open. */
    private readonly closed: AbortSignal,
  ) {}

  /** How many there are. */
  get size(): number {
    return this.turns.length;
  }

  /** Runs the rest of a turn that has yielded. Rejects with TurnGivenUpError if it has not ended after `mostMs`. */
  finish(flow: RunningFlow, host: FlowHost, mostMs = Number.POSITIVE_INFINITY): Promise<FinishedTurn> {
    return new Promise((resolve, reject) => {
      const until = this.runtime.monotonicNow() + mostMs;
      this.turns.push({ flow, host, fuel: MOST_FUEL, until, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    const { runtime } = this;
    this.isRunning = true;
    await nextTick(runtime);
    while (this.turns.length > 0 && !this.closed.aborted) {
      const began = runtime.monotonicNow();
      this.giveUp(began);
      const turn = this.choose();
      if (turn) this.runSlice(turn);
      const now = runtime.monotonicNow();
      if (turn) turn.fuel = nextFuel(turn.fuel, now - began);
      await nextTick(runtime);
      const share = this.held.size > this.turns.length ? REST_BESIDE_OTHERS : REST;
      const rest = turn ? now + share * (now - began) - runtime.monotonicNow() : LOOK_AGAIN_MS;
      if (rest > 0) await sleep(runtime, rest);
    }
    this.turns.length = 0;
    this.isRunning = false;
  }

  private giveUp(now: number): void {
    for (const turn of this.turns.filter(({ until }) => until <= now)) {
      this.remove(turn);
      turn.reject(new TurnGivenUpError());
    }
  }

  private runSlice(turn: LongTurn): void {
    try {
      const result = turn.flow.turn([], turn.host, turn.fuel);
      if (result.status === 'yielded') return;
      this.remove(turn);
      turn.resolve(result);
    } catch (error) {
      this.remove(turn);
      turn.reject(error);
    }
  }

  // Over the bound, the one that began first goes on alone: it ends, within its own limits, and frees what it holds. What ended turns
  // leave to be written counts too; if that alone is too much, all wait until the database has taken it.
  private choose(): LongTurn | undefined {
    const { turns, mostBytes } = this;
    const unwritten = this.committer.backlogBytes;
    if (unwritten > mostBytes) return undefined;
    let bytes = unwritten;
    for (const { flow } of turns) bytes += flow.heapBytes;
    if (bytes > mostBytes) return turns[0];
    this.next = this.next < turns.length ? this.next : 0;
    return turns[this.next++];
  }

  private remove(turn: LongTurn): void {
    const at = this.turns.indexOf(turn);
    this.turns.splice(at, 1);
    if (at < this.next) this.next--;
  }
}

// By no more than half or twice: a slice in which garbage was collected tells little about the next one.
function nextFuel(fuel: number, took: number): number {
  const factor = Math.min(2, Math.max(0.5, SLICE_MS / Math.max(took, 0.01)));
  return Math.min(MOST_FUEL, Math.max(LEAST_FUEL, Math.round(fuel * factor)));
}
