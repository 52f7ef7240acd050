// Drives flows in specs: compiles them, starts and resumes runs, and runs their turns.

import {
  compile,
  type FlowEvent,
  type FlowHost,
  type FlowLimits,
  type Program,
  restoreRun,
  startRun,
  type TurnResult,
} from '../../libs/flow/index.js';

export const CONTEXT = { executionId: 'run', rootId: 'run', parentId: null, workflow: 'spec', version: 'v1', startedAt: 0, tags: [] };
export const HOST: FlowHost = { now: () => 1_700_000_000_000, random: () => 0.5, uuid: () => '00000000-0000-4000-8000-000000000000' };

export type Ended = Exclude<TurnResult, { status: 'yielded' }>;

/** One whole turn, however often it yields. */
export function turnOf(run: ReturnType<typeof startRun>, events: FlowEvent[] = []): Ended {
  let result = run.turn(events, HOST);
  while (result.status === 'yielded') result = run.turn([], HOST);
  return result;
}

/** Starts a flow and runs its first turn. */
export function begin(source: string | Program, options: { inputs?: unknown; limits?: Partial<FlowLimits> } = {}) {
  const program = typeof source === 'string' ? compile(source, { file: 'spec.flow' }) : source;
  const inputs = options.inputs === undefined ? undefined : JSON.stringify(options.inputs);
  const run = startRun(program, { inputs, context: CONTEXT, limits: options.limits });
  return { program, run, result: turnOf(run) };
}

/** Continues from the snapshot of a suspended run, as another process would. */
export function resume(program: Program, snapshot: string, events: FlowEvent[]) {
  const run = restoreRun(program, snapshot, { context: CONTEXT });
  return { program, run, result: turnOf(run, events) };
}

/** The return value of a flow without durable calls. */
export function outputOf(source: string | Program, options: { inputs?: unknown; limits?: Partial<FlowLimits> } = {}): unknown {
  const { result } = begin(source, options);
  if (result.status !== 'completed') throw new Error(`expected a return value, got ${JSON.stringify(result)}`);
  return result.output === undefined ? undefined : JSON.parse(result.output);
}

/** The error of a flow that fails. */
export function errorOf(source: string, options: { inputs?: unknown; limits?: Partial<FlowLimits> } = {}) {
  const { result } = begin(source, options);
  if (result.status !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(result)}`);
  return result.error;
}
