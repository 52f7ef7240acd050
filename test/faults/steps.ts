// What the specs of steps in place share: tasks that run until the spec ends them, a store that stops at a statement, and what may be left.

import { expect } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import { type ConnectionOptions, type NewExecution, Store } from '../../libs/store/index.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';

/** While a claim is in flight its slots are not free, and a step may be in place only if slots are: so a claim takes only some. */
export const FREE_SLOTS = { claimBatch: 5 };

/** Tasks that run until the spec ends them. */
export class HeldTasks {
  /** The executions that have begun here, in order; one that began twice is there twice. */
  readonly begun: string[] = [];
  readonly aborted: string[] = [];
  private readonly attempts: { id: string; resolve(value: unknown): void; reject(error: Error): void }[] = [];

  /** The executions whose attempts have not ended. */
  get running(): string[] {
    return this.attempts.map(({ id }) => id);
  }

  /** The task. */
  readonly hold = (_: unknown, { executionId: id, signal }: TaskContext): Promise<unknown> => {
    this.begun.push(id);
    signal.addEventListener('abort', () => this.aborted.push(id));
    return new Promise((resolve, reject) => this.attempts.push({ id, resolve, reject }));
  };

  /** Waits until the execution has begun this often. */
  async began(id: string, times = 1): Promise<void> {
    await waitFor(`${id} to begin`, () => this.begun.filter((one) => one === id).length >= times);
  }

  /** Ends the oldest attempt of an execution that still runs. */
  end(id: string, value: unknown): void {
    this.take(id).resolve(value);
  }

  fail(id: string, message: string): void {
    this.take(id).reject(new Error(message));
  }

  private take(id: string) {
    const place = this.attempts.findIndex((one) => one.id === id);
    if (place < 0) throw new Error(`${id} does not run.`);
    return this.attempts.splice(place, 1)[0];
  }
}

/** A store that stops before a statement of this name is sent, or after its reply has come, until the spec lets it go on. */
export async function storeThatStops(
  connection: ConnectionOptions & { schema: string },
  statement: string,
  when: 'before' | 'after' = 'before',
): Promise<{ store: Store; arm(): void; stopped(): Promise<void>; goOn(): void }> {
  let isArmed = false;
  let isStopped = false;
  let goOn = () => {};
  const gone = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const pause = async (name: string) => {
    if (!isArmed || name !== statement) return;
    isArmed = false;
    isStopped = true;
    await gone;
  };
  const store = await Store.open({
    ...connection,
    intercept: async (name, run) => {
      if (when === 'before') await pause(name);
      const rows = await run();
      if (when === 'after') await pause(name);
      return rows;
    },
  });
  return {
    store,
    arm: () => {
      isArmed = true;
    },
    stopped: () => waitFor(`${statement} to be stopped`, () => isStopped).then(() => undefined),
    goOn: () => goOn(),
  };
}

/** Starts the workflow `f` and waits until its first call runs here, without a row. */
export async function startInPlace(harness: Harness, held: HeldTasks, extra: Partial<NewExecution> = {}): Promise<string> {
  const id = await harness.start('f', undefined, extra);
  await held.began(`${id}:1`);
  expect(await inPlace(harness, id)).toBe(1);
  return id;
}

/** How many steps the run has in place. */
export async function inPlace(harness: Harness, id: string): Promise<number> {
  const [run] = await harness.query<{ n: number }>(
    `SELECT coalesce(json_array_length(pending::json), 0)::integer AS n FROM rhythm.executions WHERE id = $1`,
    [id],
  );
  return run.n;
}

/** The run has this many steps, and each of them completed once: in a row of its own, or in the turn that consumed its result. */
export async function settledOnce(harness: Harness, id: string, calls: number): Promise<void> {
  const steps = await harness.query<{ call: number; status: string }>(
    `SELECT parent_call AS call, status FROM rhythm.executions WHERE parent_id = $1
    UNION ALL SELECT call, 'completed' FROM rhythm.steps WHERE execution_id = $1 ORDER BY call`,
    [id],
  );
  expect(steps).toEqual(Array.from({ length: calls }, (_, n) => ({ call: n + 1, status: 'completed' })));
}

/** Nothing is claimed, queued, scheduled or waiting any more, and no step has two rows. */
export async function nothingIsLeft(harness: Harness): Promise<void> {
  const tables = ['claims', 'work_queue', 'inbox', 'scheduled_queue', 'resume_groups', 'signals'];
  await waitFor(
    'nothing to be left',
    async () => {
      const counts = await Promise.all(tables.map((table) => harness.count(table)));
      const left = tables.filter((_, n) => counts[n] > 0);
      if ((await harness.count('executions', 'pending IS NOT NULL')) > 0) left.push('pending');
      if (left.length > 0) throw new Error(`${left} left`);
      return true;
    },
    { timeoutMs: 20_000 },
  );
  const twice = await harness.query(
    `SELECT e.id FROM rhythm.steps s JOIN rhythm.executions e ON e.id = s.execution_id || ':' || s.call AND e.bucket = s.bucket`,
  );
  expect(twice).toEqual([]);
}
