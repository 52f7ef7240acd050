// What a turn asked for, as rows to be written: children, timers, withdrawals, cancels, log lines.

import type { Effect, TaskCallOptions, WorkflowCallOptions } from '../../flow/index.js';
import { childId, type ExecutionOptions, type NewExecution, type NewTimer, type TurnCommit } from '../../store/index.js';
import type { Runtime } from '../runtime.js';
import type { TaskSource } from '../tasks/runnable-task.js';
import type { HeldItem } from '../work/held-work.js';
import type { ProgramLoader } from './programs.js';
import type { TreeRefusal } from './tree-limits.js';

/** The part of a turn's commit that its effects make. */
export type EffectRows = Pick<TurnCommit, 'children' | 'timers' | 'withdrawn' | 'cancels' | 'logs' | 'replies'> & {
  /** The highest call that was numbered, or 0. */
  lastCall: number;
};

/** Which version each workflow that is called starts with; undefined when no workflow is called, which is most of the time. */
export function versionsOf(effects: readonly Effect[], programs: ProgramLoader): Promise<Versions> | undefined {
  if (!effects.some((effect) => effect.kind === 'workflow')) return undefined;
  return readVersions(effects, programs);
}

export type Versions = ReadonlyMap<string, string | undefined>;

async function readVersions(effects: readonly Effect[], programs: ProgramLoader): Promise<Versions> {
  const versions = new Map<string, string | undefined>();
  for (const effect of effects) {
    if (effect.kind === 'workflow' && !versions.has(effect.name)) versions.set(effect.name, await programs.resolve(effect.name));
  }
  return versions;
}

/** Translates effects. A failing turn keeps only what cannot be taken back: children, cancels and log lines. */
export function effectRows(
  run: Pick<HeldItem, 'id' | 'queue' | 'priority'>,
  effects: readonly Effect[],
  tasks: TaskSource,
  versions: Versions | undefined,
  failing: boolean,
  runtime: Runtime,
  refusal?: TreeRefusal,
): EffectRows {
  const [only] = effects;
  // The usual turn asks for one task.
  if (effects.length === 1 && only.kind === 'task') return { ...NO_ROWS, children: [taskOf(run, only, tasks)], lastCall: only.id };
  const children: NewExecution[] = [];
  const timers: NewTimer[] = [];
  const withdrawn: number[] = [];
  const cancels: number[] = [];
  const logs: { kind: string; at: number; detail: unknown }[] = [];
  const replies: { call: number; kind: 'completed' | 'failed'; payload: string }[] = [];
  let lastCall = 0;
  for (const effect of effects) {
    if ('id' in effect) lastCall = Math.max(lastCall, effect.id);
    switch (effect.kind) {
      case 'task':
        children.push(taskOf(run, effect, tasks));
        break;
      case 'workflow': {
        const version = versions?.get(effect.name);
        // An id of the flow's choice, and a detached run, are roots of their own.
        const isBelow = effect.options.id === undefined && !effect.options.detached;
        if (refusal && isBelow) replies.push({ call: effect.id, kind: 'failed', payload: JSON.stringify(refusal) });
        else if (version === undefined)
          replies.push({ call: effect.id, kind: 'failed', payload: JSON.stringify(unknownWorkflow(effect.name)) });
        else {
          const child = workflowOf(run, effect, version, failing, runtime);
          children.push(child);
          // A detached child does not report its end; its call returns its id.
          if (effect.options.detached) replies.push({ call: effect.id, kind: 'completed', payload: JSON.stringify(child.id) });
        }
        break;
      }
      case 'timer':
        timers.push({ kind: 'timer', call: effect.id, ...('at' in effect ? { at: effect.at } : { delayMs: effect.delayMs }) });
        break;
      case 'wait':
        if (effect.timeoutMs !== undefined) timers.push({ kind: 'timeout', call: effect.id, delayMs: effect.timeoutMs });
        break;
      case 'withdraw':
        withdrawn.push(effect.id);
        break;
      case 'cancel':
        cancels.push(effect.id);
        break;
      case 'log':
        logs.push({ kind: 'log', at: effect.at, detail: { level: effect.level, message: effect.message } });
    }
  }
  return failing
    ? { children, timers: [], withdrawn: [], cancels, logs, replies: [], lastCall }
    : { children, timers, withdrawn, cancels, logs, replies, lastCall };
}

const NONE: readonly never[] = Object.freeze([]);
const NO_ROWS: EffectRows = { children: NONE, timers: NONE, withdrawn: NONE, cancels: NONE, logs: NONE, replies: NONE, lastCall: 0 };

function taskOf(run: { id: string }, effect: Extract<Effect, { kind: 'task' }>, tasks: TaskSource): NewExecution {
  const declared = tasks.get(effect.name)?.policy;
  const { options } = effect;
  return {
    id: childId(run.id, effect.id),
    type: 'task',
    targetName: effect.name,
    queue: options.queue ?? declared?.queue ?? 'default',
    priority: options.priority ?? declared?.priority ?? 0,
    input: effect.input,
    parentId: run.id,
    parentCall: effect.id,
    options: stored({
      timeoutMs: options.timeoutMs,
      delayMs: options.delayMs,
      retry: options.retry,
      idempotencyKey: options.idempotencyKey,
      startTimeoutMs: declared?.startTimeoutMs,
      totalTimeoutMs: declared?.totalTimeoutMs,
    } satisfies ExecutionOptions & TaskCallOptions),
  };
}

function workflowOf(
  run: Pick<HeldItem, 'id' | 'queue' | 'priority'>,
  effect: Extract<Effect, { kind: 'workflow' }>,
  version: string,
  failing: boolean,
  runtime: Runtime,
): NewExecution {
  const options: WorkflowCallOptions = effect.options;
  return {
    id: options.id ?? (options.detached ? runtime.newId() : childId(run.id, effect.id)),
    fresh: options.detached && options.id === undefined,
    type: 'workflow',
    targetName: effect.name,
    version,
    // A child workflow runs in the queue of its parent, unless the call names another.
    queue: options.queue ?? run.queue,
    priority: options.priority ?? run.priority,
    input: effect.input,
    parentId: run.id,
    // The turn that is run again asks for the same id under another number; the sign marks this child as left over.
    ...(options.detached ? {} : { parentCall: failing && options.id !== undefined ? -effect.id : effect.id }),
    options: stored({ delayMs: options.delayMs, totalTimeoutMs: options.timeoutMs }),
  };
}

// Absent options are not stored, and no options at all are no row bytes at all.
function stored(options: ExecutionOptions): ExecutionOptions | undefined {
  let given: Record<string, unknown> | undefined;
  for (const name in options) {
    const value = options[name as keyof ExecutionOptions];
    if (value === undefined) continue;
    given ??= {};
    given[name] = value;
  }
  return given;
}

function unknownWorkflow(name: string): { name: string; code: string; message: string } {
  return {
    name: 'WorkflowError',
    code: 'RHYTHM_UNKNOWN_WORKFLOW',
    message: `No workflow is named "${name}". Load its .flow file in a process that starts, or correct the name.`,
  };
}
