// Runs a case in Flow, driven by its timeline, in one of several ways that must not make a difference.
import {
  compile,
  DEFAULT_LIMITS,
  type FlowRun,
  loadProgram,
  type Program,
  restoreRun,
  saveProgram,
  startRun,
} from '../../libs/flow/index.js';
import type { FlowContext, FlowEvent, FlowHost, TurnResult } from '../../libs/flow/turn.js';
import type { Case } from './golden.js';
import type { Outcome } from './outcome.js';
import { withShow } from './show.js';
import { START, Timeline } from './timeline.js';

/** `recompiled` continues with another program of the same source, stored and loaded; `sliced` yields to the host after every few instructions; `batched` passes all events that are ready at once. */
export type Way = 'straight' | 'restored' | 'recompiled' | 'batched' | 'sliced';
export const WAYS: readonly Way[] = ['straight', 'restored', 'recompiled', 'batched', 'sliced'];

export interface FlowOutcome extends Outcome {
  /** Numbers of the durable calls that were withdrawn. */
  withdrawn: number[];
  /** Numbers of the waits that were left pending but take no signals. */
  muted: number[];
  /** How often the run was stored and continued from the text. */
  restores: number;
}

// Small, so that the goldens of limits end soon; a limit works the same at any size.
const LIMITS = { ...DEFAULT_LIMITS, fuelPerTurn: 2_000_000, heapBytes: 8 * 1024 * 1024 };

const CONTEXT: FlowContext = {
  executionId: 'run',
  rootId: 'run',
  parentId: null,
  workflow: 'golden',
  version: 'v1',
  startedAt: START,
  tags: ['test'],
};

type SignalEvent = Extract<FlowEvent, { kind: 'signal' }>;
type EndedTurn = Exclude<TurnResult, { status: 'yielded' }>;

export function runFlow(each: Case, way: Way, compiled?: Program): FlowOutcome {
  return new Drive(each, way, compiled).toTheEnd();
}

export function compileCase(each: Case): Program {
  return compile(withShow(each.source), { file: `${each.path}.flow` });
}

/** As the engine keeps it in the database. */
function storedProgram(each: Case): Program {
  return loadProgram(saveProgram(compileCase(each)));
}

class Drive {
  private readonly timeline: Timeline;
  private readonly host: FlowHost;
  private readonly outcome: FlowOutcome = { status: 'stuck', calls: [], log: [], withdrawn: [], muted: [], restores: 0 };
  private readonly limits;
  private program: Program;
  private run: FlowRun;
  /** Signals that no wait has taken yet; they are passed in again at every turn. */
  private kept: SignalEvent[] = [];

  constructor(
    private readonly each: Case,
    private readonly way: Way,
    compiled: Program | undefined,
  ) {
    this.timeline = new Timeline(each.script);
    this.host = { now: () => this.timeline.now, random: () => this.timeline.random(), uuid: () => this.timeline.uuid() };
    this.limits = way === 'sliced' ? { ...LIMITS, fuelPerSlice: 25 } : LIMITS;
    this.program = way === 'recompiled' ? storedProgram(each) : (compiled ?? compileCase(each));
    this.run = startRun(this.program, { inputs: each.script.inputs, context: CONTEXT, limits: this.limits });
  }

  toTheEnd(): FlowOutcome {
    let result = this.turn([]);
    while (result.status === 'suspended') {
      const events = this.nextEvents();
      if (events.length === 0) return this.outcome;
      if (this.way === 'restored' || this.way === 'recompiled') this.restore();
      result = this.turn(events);
    }
    this.outcome.status = result.status;
    if (result.status === 'completed') this.outcome.output = result.output;
    else this.outcome.error = result.error;
    return this.outcome;
  }

  private nextEvents(): FlowEvent[] {
    if (this.way === 'batched') return this.timeline.batch();
    const event = this.timeline.next();
    return event === undefined ? [] : [event];
  }

  private turn(events: FlowEvent[]): EndedTurn {
    let result = this.run.turn([...this.kept, ...events], this.host);
    while (result.status === 'yielded') result = this.run.turn([], this.host);
    const { consumedSignals } = result;
    this.kept = [...this.kept, ...events.filter((event) => event.kind === 'signal')].filter(
      (signal) => !consumedSignals.some(({ key }) => key === signal.key),
    );
    for (const effect of result.effects) {
      this.timeline.record(effect);
      // What the VM itself logs when a run ends is not output of the flow.
      if (effect.kind === 'log' && !effect.message.startsWith('The run ended')) this.outcome.log.push(`${effect.level}: ${effect.message}`);
      if (effect.kind === 'withdraw') this.outcome.withdrawn.push(effect.id);
    }
    this.outcome.muted.push(...result.muted);
    this.outcome.calls = this.timeline.calls;
    return result;
  }

  private restore(): void {
    if (this.way === 'recompiled') this.program = storedProgram(this.each);
    const text = this.run.snapshot();
    this.run = restoreRun(this.program, text, { context: CONTEXT, limits: this.limits });
    this.outcome.restores++;
    // Nothing ran in between, so the same state must be written in the same way.
    if (this.run.snapshot() !== text) throw new Error(`A restored run writes another snapshot:\n${text}\n${this.run.snapshot()}`);
  }
}
