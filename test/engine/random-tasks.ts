// The tasks of random workflows: what they return does not depend on time, and they use everything that a task may use.

import {
  commitWork,
  findToken,
  pauseExecutions,
  requestCancel,
  resumeExecutions,
  type Store,
  sendSignals,
} from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import type { Handler, HarnessOptions } from './harness.js';

export const RANDOM_POLICIES: HarnessOptions['policies'] = {
  declared: { queue: 'other', priority: 2, startTimeoutMs: 20_000 },
};

/** The tasks, which work on the store of whatever harness is open. */
export function randomTasks(store: () => Store): Record<string, Handler> {
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const woken = () => {
    for (const queue of ['default', 'other']) store().hints.hint('work', queue);
  };
  const hold: Handler = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const paused = new Set<string>();
  const handlers: Record<string, (input: { l: number; [key: string]: unknown }, context: Parameters<Handler>[1]) => unknown> = {
    echo: async ({ v }) => v,
    quick: ({ l }) => l,
    declared: ({ l }) => l,
    hold: (input, context) => hold(input as never, context),
    wait: ({ l, ms }) => sleep(ms as number).then(() => l),
    fails: async ({ l }) => {
      throw Object.assign(new Error(`${l} fails`), { code: `E${l}`, data: { l } });
    },
    flaky: async ({ l, times }, { attempt }) => {
      if (attempt <= (times as number)) throw new Error(`attempt ${attempt} fails`);
      return [l, attempt];
    },
    report: async ({ l, late }, context) => {
      if (late) await sleep(2);
      await context.heartbeat({ at: l });
      return [l, context.attempt, context.idempotencyKey.split(':').length];
    },
    later: async ({ l, when }, { completeLater }) => {
      const token = await completeLater();
      const completed = complete(store(), token, l);
      if (when === 'at once') await completed;
    },
    signal: async ({ l, name }, { parentId }) => {
      await sendSignals(store().db, [{ executionId: parentId as string, name: name as string, payload: JSON.stringify({ said: l }) }]);
      woken();
      return l;
    },
    'cancel-run': async (input, context) => {
      await requestCancel(store().db, [context.parentId as string], 'the task asked for it');
      woken();
      return hold(input as never, context);
    },
    'cancel-self': async (input, context) => {
      await requestCancel(store().db, [context.executionId], 'the task asked for it');
      woken();
      return hold(input as never, context);
    },
    'pause-self': async (input, context) => {
      const id = context.executionId;
      if (paused.has(id)) return input.l;
      paused.add(id);
      await pauseExecutions(store().db, [id]);
      await resumeExecutions(store().db, [id]);
      woken();
      return hold(input as never, context);
    },
    'pause-run': async ({ l }, { parentId }) => {
      await pauseExecutions(store().db, [parentId as string]);
      await resumeExecutions(store().db, [parentId as string]);
      woken();
      return l;
    },
  };
  return handlers as Record<string, Handler>;
}

/** Ends a task that was handed over, as the service for completions does. */
export async function complete(store: Store, token: string, value: unknown): Promise<void> {
  await waitFor('the completion', async () => {
    const target = await findToken(store.db, token);
    if (!target?.valid) return false;
    const { id, bucket, fence, startedAt, parentId, parentCall, attempts } = target;
    const task = {
      id,
      bucket,
      fence,
      attempts,
      startedAt,
      parent: { id: parentId as string, bucket, call: parentCall as number },
      clearSchedule: true,
      status: 'completed' as const,
      output: JSON.stringify(value),
    };
    return (await commitWork(store.db, { workerId: 'outside', tasks: [task], turns: [], claims: [] })).tasks[0];
  });
  for (const queue of ['default', 'other']) store.hints.hint('work', queue);
}
