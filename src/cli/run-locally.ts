// Runs a flow in memory, without a database: tasks return stub results, timers are skipped, signals are given up front.

import { randomUUID } from 'node:crypto';
import {
  type Effect,
  type ErrorData,
  type FlowEvent,
  type FlowHost,
  type Program,
  startRun,
  type TurnResult,
} from '../../libs/flow/index.js';

/** What replaces the engine. Times are on the clock of the run. */
export interface LocalEnvironment {
  /** Where the clock of the run starts, in ms since 1970: a child starts at the time of its caller. */
  startedAt: number;
  /** Runs a task or a child workflow. */
  call(kind: 'task' | 'workflow', name: string, input: unknown, now: number): Promise<LocalResult>;
  /** Starts a child workflow that its caller does not wait for, and returns its id. */
  detach(name: string, input: unknown, id: string | undefined, now: number): Promise<string>;
  /** Signals that were sent before the run started. */
  signals: readonly { name: string; payload: unknown }[];
  /** Called with everything that the flow does. */
  onEffect(effect: Effect, now: number): void;
  /** Called with each signal that a wait takes. */
  onSignal(name: string, payload: string | undefined, now: number): void;
}

/** The result of a call, or the `error` that a task has thrown, and how long it took on the clock of the run. */
export type LocalResult = ({ value: unknown } | { error: unknown }) & { tookMs: number };

/** How a local run ended. `waits` are the signals that a stuck run waits for. */
export type LocalOutcome =
  | { status: 'completed'; output: unknown; elapsedMs: number }
  | { status: 'failed'; error: ErrorData; elapsedMs: number }
  | { status: 'stuck'; waits: string[]; elapsedMs: number };

type SignalEvent = Extract<FlowEvent, { kind: 'signal' }>;

interface Due {
  at: number;
  event: FlowEvent;
}

/** Runs a program to its end. The clock stops while the flow computes and jumps to the next timer when it waits. */
export async function runLocally(program: Program, name: string, inputs: unknown, environment: LocalEnvironment): Promise<LocalOutcome> {
  const { startedAt } = environment;
  let now = startedAt;
  const host: FlowHost = { now: () => now, random: Math.random, uuid: randomUUID };
  const context = { executionId: 'local', rootId: 'local', parentId: null, workflow: name, version: 'local', startedAt, tags: [] };
  const run = startRun(program, { inputs: inputs === undefined ? undefined : JSON.stringify(inputs), context });
  const signals = new Map(
    environment.signals.map(({ name: signal, payload }, index): [string, SignalEvent] => {
      const key = String(index);
      return [key, { kind: 'signal', key, name: signal, payload: payload === undefined ? undefined : JSON.stringify(payload) }];
    }),
  );
  const due = new Map<number, Due>();
  const waiting = new Map<number, string>();
  let events: FlowEvent[] = [];
  for (;;) {
    const result = completeTurn(
      () => run.turn([...events, ...signals.values()], host),
      () => run.turn([], host),
    );
    const elapsedMs = now - startedAt;
    const taken = new Map(result.consumedSignals.map(({ key, wait }) => [wait, signals.get(key) as SignalEvent]));
    for (const { key } of result.consumedSignals) signals.delete(key);
    events = [];
    for (const effect of result.effects) {
      // A wait that took a signal is withdrawn too; it is reported as the signal.
      const signal = effect.kind === 'withdraw' ? taken.get(effect.id) : undefined;
      if (signal) environment.onSignal(signal.name, signal.payload, now);
      else environment.onEffect(effect, now);
      const event = await perform(effect, now, environment, due, waiting);
      if (event) events.push(event);
    }
    for (const id of result.muted) waiting.delete(id);
    if (result.status === 'completed')
      return { status: 'completed', output: result.output === undefined ? undefined : JSON.parse(result.output), elapsedMs };
    if (result.status === 'failed') return { status: 'failed', error: result.error, elapsedMs };
    if (events.length > 0) continue;
    const next = [...due.entries()].sort(([, a], [, b]) => a.at - b.at)[0];
    if (!next) return { status: 'stuck', waits: [...waiting.values()], elapsedMs };
    due.delete(next[0]);
    waiting.delete(next[0]);
    now = Math.max(now, next[1].at);
    events = [next[1].event];
  }
}

function completeTurn(first: () => TurnResult, again: () => TurnResult): Exclude<TurnResult, { status: 'yielded' }> {
  let result = first();
  while (result.status === 'yielded') result = again();
  return result;
}

async function perform(
  effect: Effect,
  now: number,
  environment: LocalEnvironment,
  due: Map<number, Due>,
  waiting: Map<number, string>,
): Promise<FlowEvent | undefined> {
  switch (effect.kind) {
    case 'task':
    case 'workflow': {
      const { event, tookMs } = await call(effect, now, environment);
      if (tookMs === 0) return event;
      due.set(effect.id, { at: now + tookMs, event });
      return undefined;
    }
    case 'timer':
      due.set(effect.id, { at: 'at' in effect ? effect.at : now + effect.delayMs, event: { kind: 'timer', id: effect.id } });
      return undefined;
    case 'wait':
      waiting.set(effect.id, effect.signal);
      if (effect.timeoutMs !== undefined) due.set(effect.id, { at: now + effect.timeoutMs, event: { kind: 'timeout', id: effect.id } });
      return undefined;
    case 'withdraw':
      due.delete(effect.id);
      waiting.delete(effect.id);
      return undefined;
    case 'cancel':
    case 'log':
      return undefined;
  }
}

async function call(
  effect: Extract<Effect, { kind: 'task' | 'workflow' }>,
  now: number,
  environment: LocalEnvironment,
): Promise<{ event: FlowEvent; tookMs: number }> {
  const { id, kind, name, input } = effect;
  if (effect.kind === 'workflow' && effect.options.detached) {
    const child = await environment.detach(name, input === undefined ? undefined : JSON.parse(input), effect.options.id, now);
    return { tookMs: 0, event: { kind: 'completed', id, value: JSON.stringify(child) } };
  }
  const { tookMs, ...result } = await environment.call(kind, name, input === undefined ? undefined : JSON.parse(input), now);
  if ('error' in result) return { tookMs, event: { kind: 'failed', id, error: errorData(result.error, kind) } };
  const { value } = result;
  return { tookMs, event: { kind: 'completed', id, value: value === undefined ? undefined : JSON.stringify(value) } };
}

function errorData(error: unknown, kind: 'task' | 'workflow'): ErrorData {
  const { message, code, data } = (error ?? {}) as { message?: string; code?: string; data?: unknown };
  return {
    name: kind === 'task' ? 'TaskError' : 'WorkflowError',
    message: message ?? String(error),
    code,
    data,
    attempts: kind === 'task' ? 1 : undefined,
  };
}
