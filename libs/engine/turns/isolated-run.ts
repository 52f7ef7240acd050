// A run whose turns are run in a process of their own: its state is text here, and stays so.

import {
  DEFAULT_LIMITS,
  type FlowAllowList,
  type FlowContext,
  type FlowEvent,
  type FlowHost,
  type FlowLimits,
  type Program,
  saveProgram,
  type TurnResult,
  type WaitingPlace,
} from '../../flow/index.js';
import {
  countedHeap,
  type IsolatedProgram,
  type IsolatedTurnHandle,
  type IsolationPool,
  IsolationStartError,
  isolatedProgram,
} from '../../isolation/index.js';
import { UnreachableError } from '../unreachable.js';
import type { Elsewhere, RunnableProgram, RunningFlow } from './programs.js';

/** Makes the isolated runs of a program. Its text is made when the first of them is. */
export function isolatedRuns(pool: IsolationPool, program: Program, given: Partial<FlowLimits>): RunnableProgram['isolated'] {
  const limits = { ...DEFAULT_LIMITS, ...given };
  limits.heapBytes = countedHeap(limits.heapBytes, pool);
  let known: IsolatedProgram | undefined;
  return (crashes) => {
    known ??= isolatedProgram(saveProgram(program), program.fingerprint);
    const fixed = { pool, program: known, limits, crashes };
    return {
      start: (inputs, context, numberAfter) => new IsolatedRun({ ...fixed, inputs, snapshot: undefined, context, numberAfter }),
      restore: (snapshot, context, numberAfter) => new IsolatedRun({ ...fixed, inputs: undefined, snapshot, context, numberAfter }),
    };
  };
}

interface IsolatedRunState {
  readonly pool: IsolationPool;
  readonly program: IsolatedProgram;
  readonly limits: FlowLimits;
  readonly crashes: number;
  readonly inputs: string | undefined;
  readonly snapshot: string | undefined;
  readonly context: FlowContext;
  readonly numberAfter: number;
}

/** Takes one turn, and is not kept after it. */
class IsolatedRun implements RunningFlow {
  readonly elsewhere: Elsewhere = { outcome: () => this.outcome(), stop: () => this.handle?.stop() };
  /** Its values are in the other process. */
  readonly heapBytes = 0;
  private allow: FlowAllowList = {};
  private handle: IsolatedTurnHandle | undefined;
  private state: string | undefined;
  private places: WaitingPlace[] = [];

  constructor(private readonly run: IsolatedRunState) {}

  turn(events: readonly FlowEvent[], host: FlowHost): TurnResult {
    const { pool, ...turn } = this.run;
    this.handle = pool.run({ ...turn, allow: this.allow, now: host.now(), events });
    return { status: 'yielded' };
  }

  snapshot(): string {
    return this.state as string;
  }

  waitingPlaces(most: number): WaitingPlace[] {
    return this.places.slice(0, most);
  }

  setAllowList(allow: FlowAllowList): void {
    this.allow = allow;
  }

  private async outcome(): Promise<Exclude<TurnResult, { status: 'yielded' }>> {
    try {
      const { result, snapshot, places } = await (this.handle as IsolatedTurnHandle).outcome;
      this.state = snapshot;
      this.places = places;
      return result;
    } catch (error) {
      if (error instanceof IsolationStartError) throw new UnreachableError('A turn of an isolated flow waits', error, { began: false });
      throw error;
    }
  }
}
