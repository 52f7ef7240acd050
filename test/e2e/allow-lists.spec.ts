// Allow-lists are stored with their workflow: they apply on workers that never loaded it, and to existing runs.

import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { type RhythmModuleOptions, Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

const called: string[] = [];

@Injectable()
class Tasks {
  @Task('harmless')
  async harmless(): Promise<void> {
    called.push('harmless');
    // Yields to other work: the loops below call it until they are refused.
    await new Promise((resolve) => setImmediate(resolve));
  }

  @Task('dangerous')
  async dangerous(): Promise<void> {
    called.push('dangerous');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type Allow = { tasks?: string[]; workflows?: string[]; queues?: string[] };

const ONCE = 'return await Task.run(Inputs)';
// It stays in the memory of its worker between its steps, so its list must be checked again there too.
const LOOP = 'try { for (;;) await Task.run(Inputs) } catch (error) { return error.message }';
const TIMEOUT = { timeout: '15s' } as const;

describe('an allow-list', () => {
  const database = useTestDatabase();
  /** A process that has the flow and runs no work. */
  const deploy = (name: string, source: string, allow?: Allow, more: RhythmModuleOptions = {}) =>
    startApp(database, { role: 'api', flows: [{ name, source, ...(allow && { allow }) }], ...more });
  /** A worker that has the tasks and not the flow. */
  const bareWorker = () => startApp(database, {}, { providers: [Tasks] });

  it('applies on a worker that has not loaded the flow', async () => {
    const app = await deploy('tenant', ONCE, { tasks: ['harmless'] });
    const worker = await bareWorker();
    const good = await app.executions.start('tenant', 'harmless');
    await app.executions.result(good.id, TIMEOUT);
    const bad = await app.executions.start('tenant', 'dangerous');
    await expect(app.executions.result(bad.id, TIMEOUT)).rejects.toMatchObject({
      cause: { message: 'Task "dangerous" is not allowed for this flow: its allow.tasks lists harmless' },
    });
    expect(called).not.toContain('dangerous');
    await worker.close();
    await app.close();
  });

  it('applies to existing runs on every worker when a process starts with a narrower one and the same source', async () => {
    const before = await deploy('same-text', LOOP, { tasks: ['harmless', 'dangerous'] });
    const worker = await bareWorker();
    const { id } = await before.executions.start('same-text', 'dangerous');
    await eventually(() => expect(called).toContain('dangerous'));
    const after = await deploy('same-text', LOOP, { tasks: ['harmless'] });
    expect(await after.executions.result(id, TIMEOUT)).toMatch(/"dangerous" is not allowed/);
    for (const app of [before, worker, after]) await app.close();
  });

  it('of the current version limits the runs of older versions', async () => {
    const before = await deploy('new-text', LOOP, { tasks: ['harmless', 'dangerous'] });
    const worker = await bareWorker();
    called.length = 0;
    const { id } = await before.executions.start('new-text', 'dangerous');
    await eventually(() => expect(called).toContain('dangerous'));
    const after = await deploy('new-text', `${LOOP} // again`, { tasks: ['harmless'] });
    expect(await after.executions.result(id, TIMEOUT)).toMatch(/"dangerous" is not allowed/);

    // A wider list of a newer version does not widen the one of an older version.
    const wide = await deploy('new-text', `${LOOP} // wide`, { tasks: ['harmless', 'dangerous'] });
    const narrow = await after.executions.start('new-text', 'dangerous');
    expect(await after.executions.result(narrow.id, TIMEOUT)).toMatch(/"dangerous" is not allowed/);
    for (const app of [before, worker, after, wide]) await app.close();
  });

  it('is replaced by one that the version never had, narrowed by any other, and widened again only by activate', async () => {
    const [narrow, wide, wider]: Allow[] = [{ tasks: ['a'] }, { tasks: ['a', 'b'] }, { tasks: ['c', 'b', 'a'], queues: ['q'] }];
    const stored = async (allow: Allow | undefined) => {
      const app = await deploy('changing', ONCE, allow);
      const [version] = await app.definitions.versions('changing');
      await app.close();
      return version?.allow;
    };
    expect(await stored(wide)).toEqual(wide);
    expect(await stored(narrow)).toEqual(narrow);
    // A process of the first deploy starts again: it widens nothing.
    expect(await stored(wide)).toEqual(narrow);
    expect(await stored(wider)).toEqual({ queues: ['q'], tasks: ['a', 'b', 'c'] });
    // Going back to a narrower list needs no call.
    expect(await stored(narrow)).toEqual({ queues: ['q'], tasks: ['a'] });
    expect(await stored(undefined)).toEqual({});
    expect(await stored(narrow)).toEqual(narrow);

    const back = await deploy('changing', ONCE, wide);
    const { version, allow } = await back.definitions.current('changing');
    expect(allow).toEqual(narrow);
    expect((await back.definitions.activate('changing', version)).allow).toEqual(wide);
    expect((await back.definitions.current('changing')).allow).toEqual(wide);
    // A process without the flow has no list that could become the stored one.
    const bare = await startApp(database, { role: 'api' });
    expect((await bare.definitions.activate('changing', version)).allow).toEqual(wide);
    for (const app of [back, bare]) await app.close();
  });

  it('is shown by inspect: what every worker enforces for the run', async () => {
    const app = await deploy('shown', 'await Signal.when("go")', { tasks: ['harmless', 'dangerous'], queues: ['q'] });
    const { id } = await app.executions.start('shown');
    const newer = await deploy('shown', 'await Signal.when("gone")', { tasks: ['harmless'] });
    const inspection = await newer.executions.inspect(id);
    expect(inspection.allow).toEqual({ queues: ['q'], tasks: ['harmless'] });
    expect(inspection.text).toContain('may name tasks: harmless; queues: q');
    const free = await deploy('free', ONCE);
    const other = await free.executions.start('free', 'harmless');
    expect((await free.executions.inspect(other.id)).allow).toEqual({});
    for (const each of [app, newer, free]) await each.close();
  });
});
