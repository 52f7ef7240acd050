// Work goes to a worker that has its task: the others leave it alone, and no attempt is counted.

import { describe, expect, it } from '@jest/globals';
import { getExecution, pauseExecutions, readUnserved, requestCancel, resumeExecutions } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Handler, Harness } from './harness.js';

describe('a task that a worker does not have', () => {
  const kit = useHarness();
  const start = (harness: Harness, name: string, extra = {}) => harness.start(name, undefined, { type: 'task', ...extra });
  const engine = (harness: Harness, tasks: Record<string, Handler>, options = {}) => harness.engine(options, harness.store, tasks);
  const noteOf = async (harness: Harness, id: string) => (await getExecution(harness.store.db, id))?.note;

  it('is run by one that has it: two apps share a queue, and every task ends at its first attempt', async () => {
    const harness = await kit.open({});
    const ran: string[] = [];
    await engine(harness, { mail: () => ran.push('mail') });
    await engine(harness, { bill: () => ran.push('bill') });
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => start(harness, n % 2 === 0 ? 'mail' : 'bill')));
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ status: 'completed', attempts: 0, note: null });
    expect(ran.filter((name) => name === 'mail')).toHaveLength(30);
    expect(await harness.count('work_queue')).toBe(0);
    expect(await harness.count('claims')).toBe(0);
  });

  it('does not fail a workflow in a rolling deploy, where only the new workers have its new task', async () => {
    const flow = `return [await Task.run('old'), await Task.run('new', 1, { retry: { maxAttempts: 1 } })];`;
    const harness = await kit.open({ flows: { f: flow } });
    await engine(harness, { old: () => 1 });
    await engine(harness, { old: () => 1, new: () => 2 }, { concurrency: 2 });
    const ids = await Promise.all(Array.from({ length: 40 }, () => harness.start('f')));
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: [1, 2] });
  });

  it('waits with a note while no live worker has it, and runs as soon as one starts', async () => {
    const harness = await kit.open({});
    await engine(harness, { charge: () => 1 });
    const id = await start(harness, 'chrage');
    const note = await waitFor('a note', async () => (await noteOf(harness, id)) ?? undefined);
    expect(note).toMatch(/No live worker of its queue has task "chrage".*Did you mean "charge"\?/);
    expect(await getExecution(harness.store.db, id)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await readUnserved(harness.store.db)).toMatchObject([{ queue: 'default', task: 'chrage', waiting: 1 }]);
    await engine(harness, { chrage: () => 2 });
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', attempts: 0, value: 2, note: null });
    expect(await readUnserved(harness.store.db)).toEqual([]);
  });

  it('gets its note when the last worker that had it stops', async () => {
    const harness = await kit.open({});
    const busy = await engine(harness, { rare: () => new Promise(() => undefined) }, { concurrency: 1, shutdownGraceMs: 0 });
    await engine(harness, {});
    await start(harness, 'rare');
    await waitFor('the only slot to be taken', async () => (await harness.count('claims')) === 1);
    const id = await start(harness, 'rare');
    await waitFor('it to be left to the worker that has it', async () => (await harness.count('work_queue', `lane = 't:rare'`)) === 1);
    expect(await noteOf(harness, id)).toBeNull();
    await busy.stop();
    await waitFor('a note', async () => (await noteOf(harness, id)) ?? undefined);
    expect(await readUnserved(harness.store.db)).toMatchObject([{ task: 'rare', waiting: 2 }]);
  });

  it('keeps its place: by priority, then by age', async () => {
    const harness = await kit.open({});
    const without = await engine(harness, { other: () => 1 });
    const low = await start(harness, 'late', { priority: -1 });
    const first = await start(harness, 'late');
    const second = await start(harness, 'late');
    const high = await start(harness, 'late', { priority: 5 });
    await waitFor('all to be left alone', async () => (await harness.count('work_queue', `lane = 't:late'`)) === 4);
    await without.stop();
    const ran: string[] = [];
    await engine(harness, { late: (_: unknown, { executionId }) => ran.push(executionId) }, { concurrency: 1 });
    await harness.ended(low);
    expect(ran).toEqual([high, first, second, low]);
  });

  it('can be cancelled, and leaves no row behind for workers that never start', async () => {
    const harness = await kit.open({});
    await engine(harness, { other: () => 1 });
    const [cancelled, paused] = [await start(harness, 'never'), await start(harness, 'never')];
    await waitFor('them to be left alone', async () => (await harness.count('work_queue', `lane = 't:never'`)) === 2);
    await requestCancel(harness.store.db, [cancelled]);
    expect(await harness.ended(cancelled)).toMatchObject({ status: 'cancelled' });
    await pauseExecutions(harness.store.db, [paused]);
    await waitFor('the rows to go', async () => (await harness.count('work_queue')) === 0);
    await resumeExecutions(harness.store.db, [paused]);
    await waitFor('it to wait again', async () => (await harness.count('work_queue', `lane = 't:never'`)) === 1);
  });

  it('drains quickly from its lane: a full lane is claimed again and again, and the queue itself is not starved', async () => {
    const harness = await kit.open({});
    const without = await engine(harness, { other: () => 1 });
    const ids = await Promise.all(Array.from({ length: 300 }, () => start(harness, 'many')));
    await waitFor('all to be left alone', async () => (await harness.count('work_queue', `lane = 't:many'`)) === 300);
    await without.stop();
    // Its poll is so rare that a lane claimed once per poll would not be drained in time.
    await engine(harness, { many: () => 1, other: () => 2 }, { pollMs: 20_000, claimBatch: 10, concurrency: 20 });
    const other = await start(harness, 'other');
    expect(await harness.ended(other)).toMatchObject({ value: 2 });
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ status: 'completed' });
  }, 60_000);

  it('lets the queue have its turn: urgent work does not wait for the rest of a lane', async () => {
    const harness = await kit.open({});
    const ran: string[] = [];
    const without = await engine(harness, { other: () => 1 });
    for (let n = 0; n < 60; n++) await start(harness, 'many');
    await waitFor('all to be left alone', async () => (await harness.count('work_queue', `lane = 't:many'`)) === 60);
    await without.stop();
    const other = () => ran.push('other');
    // The urgent one is started by the lane's own work, so that it is queued while the lane is drained.
    let urgent: Promise<string> | undefined;
    const many = async () => {
      ran.push('many');
      if (ran.length === 3) urgent = start(harness, 'other', { priority: 10 });
      await urgent;
    };
    await engine(harness, { many, other }, { concurrency: 1 });
    await harness.ended(await waitFor('the urgent one', () => urgent));
    expect(ran.indexOf('other')).toBeLessThan(10);
  }, 30_000);
});
