// A failed child is retried by itself, and its failed parent afterwards: the parent takes the outcome that the child has by then.

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

/** What the step does next: it fails, works, or waits until it is released. */
let next: 'fail' | 'work' | 'wait' = 'fail';
let runs = 0;
/** The steps that wait. */
const waiting: (() => void)[] = [];

@Injectable()
class Tasks {
  @Task('step', { retry: { maxAttempts: 1 } })
  async step() {
    const run = ++runs;
    if (next === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
    if (next === 'fail') throw new Error(`run ${run} failed`);
    return `run ${run}`;
  }
}

const FLOWS = [
  { name: 'calls-task', source: 'return await Task.run("step")' },
  { name: 'calls-workflow', source: 'return await Workflow.run("calls-task")' },
  { name: 'calls-own-id', source: 'return await Workflow.run("calls-task", undefined, { id: Inputs.id })' },
  {
    name: 'catches',
    source: `
      let seen;
      try { await Task.run("step"); } catch (error) { seen = error.message; }
      const how = await Signal.when("go");
      if (how === "badly") throw new Error("bug");
      return [seen, how];
    `,
  },
];

describe('a retry of a failed child', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS }, { providers: [Tasks] });
  });
  beforeEach(() => {
    next = 'fail';
    runs = 0;
  });

  const result = (id: string) => app.executions.result(id, { timeout: '10s' });
  const status = async (id: string) => (await app.executions.get(id)).status;
  const fails = (id: string) => expect(result(id)).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_FAILED' });
  const retry = async (id: string, how: typeof next) => {
    next = how;
    await app.executions.retry(id);
  };
  const running = (id: string) =>
    eventually(async () => {
      expect(await status(id)).toBe('running');
      expect(waiting).toHaveLength(1);
    });
  const release = (how: typeof next) => {
    next = how;
    for (const resolve of waiting.splice(0)) resolve();
  };
  const failed = async (name: string, input?: unknown) => {
    const { id } = await app.executions.start(name, input);
    await fails(id);
    return id;
  };

  it('leaves its parent failed, whose own retry takes the result', async () => {
    const id = await failed('calls-task');
    await retry(`${id}:1`, 'work');
    expect(await result(`${id}:1`)).toBe('run 2');
    expect(await status(id)).toBe('failed');
    await app.executions.retry(id);
    expect(await result(id)).toBe('run 2');
    expect(runs).toBe(2);
  });

  it('that fails again is run again by the retry of the parent', async () => {
    const id = await failed('calls-task');
    await retry(`${id}:1`, 'fail');
    await fails(`${id}:1`);
    await retry(id, 'work');
    expect(await result(id)).toBe('run 3');
    expect(await result(`${id}:1`)).toBe('run 3');
  });

  it('is waited for by a parent that is retried while the child runs', async () => {
    const id = await failed('calls-task');
    await retry(`${id}:1`, 'wait');
    await running(`${id}:1`);
    await app.executions.retry(id);
    await eventually(async () => expect(await status(id)).toBe('suspended'));
    release('work');
    expect(await result(id)).toBe('run 2');
    expect(runs).toBe(2);
  });

  it('may happen several times before the parent is retried', async () => {
    const id = await failed('calls-task');
    for (let n = 0; n < 2; n++) {
      await retry(`${id}:1`, 'fail');
      await fails(`${id}:1`);
    }
    await retry(`${id}:1`, 'work');
    await result(`${id}:1`);
    await expect(app.executions.retry(`${id}:1`)).rejects.toMatchObject({ code: 'RHYTHM_STATE' });
    await app.executions.retry(id);
    expect(await result(id)).toBe('run 4');
  });

  it('that runs while the parent is retried, and fails, fails the parent again, which can be retried again', async () => {
    const id = await failed('calls-task');
    await retry(`${id}:1`, 'wait');
    await running(`${id}:1`);
    await app.executions.retry(id);
    release('fail');
    await expect(result(id)).rejects.toThrow('run 2 failed');
    await retry(id, 'work');
    expect(await result(id)).toBe('run 3');
  });

  it('that is cancelled while it runs again is the outcome for its parent', async () => {
    const id = await failed('calls-task');
    await retry(`${id}:1`, 'wait');
    await running(`${id}:1`);
    await app.executions.cancel(`${id}:1`, { reason: 'not that one' });
    await eventually(async () => expect(await status(`${id}:1`)).toBe('cancelled'));
    release('work');
    await app.executions.retry(id);
    await expect(result(id)).rejects.toThrow('not that one');
  });

  it.each(['calls-workflow', 'calls-own-id'])('works through all levels (%s)', async (name) => {
    const own = `own-${runs}-${name}`;
    const top = await failed(name, { id: own });
    const middle = name === 'calls-own-id' ? own : `${top}:1`;
    const leaf = `${middle}:1`;
    // The leaf by itself, then the top: the middle is retried with it, and takes the result of the leaf.
    await retry(leaf, 'work');
    expect(await result(leaf)).toBe('run 2');
    expect([await status(middle), await status(top)]).toEqual(['failed', 'failed']);
    await app.executions.retry(top);
    expect(await result(top)).toBe('run 2');
    expect(await status(middle)).toBe('completed');
  });

  it.each(['calls-workflow', 'calls-own-id'])('works through all levels while the leaf runs (%s)', async (name) => {
    const own = `own-running-${name}`;
    const top = await failed(name, { id: own });
    const middle = name === 'calls-own-id' ? own : `${top}:1`;
    await retry(`${middle}:1`, 'wait');
    await running(`${middle}:1`);
    await app.executions.retry(middle);
    await app.executions.retry(top);
    release('work');
    expect(await result(top)).toBe('run 2');
    expect(runs).toBe(2);
  });

  it.each(['calls-workflow', 'calls-own-id'])('of the middle level is taken by the top (%s)', async (name) => {
    const own = `own-middle-${name}`;
    const top = await failed(name, { id: own });
    const middle = name === 'calls-own-id' ? own : `${top}:1`;
    await retry(middle, 'work');
    expect(await result(middle)).toBe('run 2');
    await app.executions.retry(top);
    expect(await result(top)).toBe('run 2');
  });

  it('whose failure the parent has handled does not affect the parent, and a retry of the parent does not run it', async () => {
    const { id } = await app.executions.start('catches');
    await eventually(async () => expect((await app.executions.inspect(id)).branches[0]?.waitsFor).toMatch(/signal "go"/));
    await retry(`${id}:1`, 'fail');
    await fails(`${id}:1`);
    await app.signals.send(id, 'go', 'badly');
    await expect(result(id)).rejects.toThrow('bug');
    await retry(`${id}:1`, 'work');
    expect(await result(`${id}:1`)).toBe('run 3');
    await app.executions.retry(id);
    await expect(result(id)).rejects.toThrow('bug');
    expect(runs).toBe(3);
  });

  it('whose parent is paused and has not received the failure is what the parent continues with', async () => {
    next = 'wait';
    const { id } = await app.executions.start('calls-task');
    await running(`${id}:1`);
    await app.executions.pause(id);
    release('fail');
    await fails(`${id}:1`);
    await retry(`${id}:1`, 'work');
    await result(`${id}:1`);
    await app.executions.resume(id);
    expect(await result(id)).toBe('run 2');
  });
});
