// Isolation is stored with its workflow: it applies on workers that never loaded it, and an old process cannot end it.

import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { type RhythmModuleOptions, Task } from '../../src/index.js';
import { isolatedChildrenOf } from '../isolation/children.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

@Injectable()
class Tasks {
  @Task('step')
  async step(): Promise<void> {
    // Yields to other work: the loops below call it until they are cancelled.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ONCE = `await Task.run('step'); return 'done'`;
const LOOP = `for (;;) await Task.run('step')`;
const TIMEOUT = { timeout: '20s' } as const;
const children = () => isolatedChildrenOf(process.pid).length;

describe('isolation', () => {
  const database = useTestDatabase();
  /** A process that has the flow and runs no work. */
  const deploy = (name: string, source: string, isolate?: boolean, more: RhythmModuleOptions = {}) =>
    startApp(database, { role: 'api', flows: [{ name, source, ...(isolate === undefined ? {} : { isolate }) }], ...more });
  /** A worker that has the task and not the flow. */
  const bareWorker = () => startApp(database, {}, { providers: [Tasks] });

  it('applies on a worker that has not loaded the flow, and leaves no process when that ends', async () => {
    const app = await deploy('tenant', ONCE, true);
    const worker = await bareWorker();
    const { id } = await app.executions.start('tenant');
    expect(await app.executions.result(id, TIMEOUT)).toBe('done');
    expect(children()).toBe(1);
    await worker.close();
    expect(children()).toBe(0);
    await app.close();
  });

  it('starts no process for flows that are not isolated', async () => {
    const app = await deploy('trusted', ONCE);
    const worker = await bareWorker();
    expect(await app.executions.result((await app.executions.start('trusted')).id, TIMEOUT)).toBe('done');
    expect(children()).toBe(0);
    for (const each of [app, worker]) await each.close();
  });

  it('applies to a run that is in the memory of a worker when a process asks for it', async () => {
    const before = await deploy('becoming', LOOP);
    const worker = await bareWorker();
    const { id } = await before.executions.start('becoming');
    await eventually(async () => expect((await before.executions.get(id))?.status).not.toBe('pending'));
    const after = await deploy('becoming', LOOP, true);
    await eventually(() => expect(children()).toBeGreaterThan(0));
    await after.executions.cancel(id);
    await eventually(async () => expect((await after.executions.get(id))?.status).toBe('cancelled'));
    for (const each of [before, worker, after]) await each.close();
  });

  it('of the current version applies to runs of older versions', async () => {
    const before = await deploy('versions', ONCE, false);
    const after = await deploy('versions', `${ONCE} // isolated`, true);
    const worker = await bareWorker();
    expect(await before.executions.result((await before.executions.start('versions')).id, TIMEOUT)).toBe('done');
    expect(children()).toBe(1);
    for (const each of [before, after, worker]) await each.close();
  });

  it('is ended by a declaration that the version never had, never by one of an earlier deploy, and then only by activate', async () => {
    const stored = async (isolate: boolean | undefined, activate = false) => {
      const app = await deploy('changing', ONCE, isolate);
      const [{ version, isolate: found }] = await app.definitions.versions('changing');
      const activated = activate ? await app.definitions.activate('changing', version) : undefined;
      await app.close();
      return activated ? activated.isolate : found;
    };
    expect(await stored(true)).toBe(true);
    expect(await stored(undefined)).toBe(false);
    expect(await stored(true)).toBe(true);
    // Both have been seen: the process of the earlier deploy starts again.
    expect(await stored(false)).toBe(true);
    expect(await stored(false, true)).toBe(false);
    expect(await stored(undefined)).toBe(false);
  });

  it('is asked for with true or false', async () => {
    await expect(deploy('wrong', ONCE, 'yes' as never)).rejects.toThrow(/flows\[0\]\.isolate is "yes", not true or false/);
  });
});
