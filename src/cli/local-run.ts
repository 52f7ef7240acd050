// Runs a flow in memory, without a database: tasks are answered from stubs, timers are skipped, signals are handed in.

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

/** What stands in for the world. */
export interface LocalWorld {
  /** Where the clock of the run starts, in ms since 1970: a child begins at the time of its caller. */
  startedAt: number;
  /** Answers a task or a child workflow. */
  call(kind: 'task' | 'workflow', name: string, input: unknown, now: number): Promise<LocalAnswer>;
  /** Signals that were sent before the run began. */
  signals: readonly { name: string; payload: unknown }[];
  /** Told of everything that the flow does, as it happens, with the time on the clock of the run. */
  onEffect(effect: Effect, now: number): void;
  /** Told of each signal that a wait takes. */
  onSignal(name: string, payload: string | undefined, now: number): void;
}

/** What a call answers, an `error` as a task throws it, and how much time on the clock of the run that takes. */
export type LocalAnswer = ({ value: unknown } | { error: unknown }) & { tookMs: number };

/** How a local run ended. `waits` names the signals it still waits for when nothing can move it any more. */
export type LocalOutcome =
  | { status: 'completed'; output: unknown; elapsedMs: number }
  | { status: 'failed'; error: ErrorData; elapsedMs: number }
  | { status: 'stuck'; waits: string[]; elapsedMs: number };

type SignalEvent = Extract<FlowEvent, { kind: 'signal' }>;

interface Due {
  at: number;
  event: FlowEvent;
}

/** Runs a program to its end. The clock stands still while the flow computes and jumps to the next timer when it waits. */
export async function runLocally(program: Program, name: string, inputs: unknown, world: LocalWorld): Promise<LocalOutcome> {
  const { startedAt } = world;
  let now = startedAt;
  const host: FlowHost = { now: () => now, random: Math.random, uuid: randomUUID };
  const context = { executionId: 'local', rootId: 'local', parentId: null, workflow: name, version: 'local', startedAt, tags: [] };
  const run = startRun(program, { inputs: inputs === undefined ? undefined : JSON.stringify(inputs), context });
  const signals = new Map(
    world.signals.map(({ name: signal, payload }, index): [string, SignalEvent] => {
      const key = String(index);
      return [key, { kind: 'signal', key, name: signal, payload: payload === undefined ? undefined : JSON.stringify(payload) }];
    }),
  );
  const due = new Map<number, Due>();
  const waiting = new Map<number, string>();
  let events: FlowEvent[] = [];
  for (;;) {
    const result = turnToEnd(
      () => run.turn([...events, ...signals.values()], host),
      () => run.turn([], host),
    );
    const elapsedMs = now - startedAt;
    const taken = new Map(result.consumedSignals.map(({ key, wait }) => [wait, signals.get(key) as SignalEvent]));
    for (const { key } of result.consumedSignals) signals.delete(key);
    events = [];
    for (const effect of result.effects) {
      // The wait that took a signal is withdrawn: what happened is that the signal came.
      const signal = effect.kind === 'withdraw' ? taken.get(effect.id) : undefined;
      if (signal) world.onSignal(signal.name, signal.payload, now);
      else world.onEffect(effect, now);
      const answer = await follow(effect, now, world, due, waiting);
      if (answer) events.push(answer);
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

function turnToEnd(first: () => TurnResult, again: () => TurnResult): Exclude<TurnResult, { status: 'yielded' }> {
  let result = first();
  while (result.status === 'yielded') result = again();
  return result;
}

async function follow(
  effect: Effect,
  now: number,
  world: LocalWorld,
  due: Map<number, Due>,
  waiting: Map<number, string>,
): Promise<FlowEvent | undefined> {
  switch (effect.kind) {
    case 'task':
    case 'workflow': {
      const { event, tookMs } = await answer(effect, now, world);
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

async function answer(
  { id, kind, name, input }: Extract<Effect, { kind: 'task' | 'workflow' }>,
  now: number,
  world: LocalWorld,
): Promise<{ event: FlowEvent; tookMs: number }> {
  const { tookMs, ...answered } = await world.call(kind, name, input === undefined ? undefined : JSON.parse(input), now);
  if ('error' in answered) return { tookMs, event: { kind: 'failed', id, error: errorData(answered.error, kind) } };
  const { value } = answered;
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
