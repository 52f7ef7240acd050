// Events apply in the order in which they were committed, even when the worker that ends a task holds the VM of its workflow.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { CompletionService, ExecutionService, SignalService, Task, type TaskContext } from '../../src/index.js';
import { startApp, type TestApp } from '../e2e/start-app.js';
import { eventually, useTestDatabase } from '../support/index.js';

const tokens: string[] = [];

@Injectable()
class Tasks {
  constructor(
    private readonly signals: SignalService,
    private readonly executions: ExecutionService,
    private readonly completions: CompletionService,
  ) {}

  @Task('signal-parent')
  async signal(payload: unknown, { parentId }: TaskContext) {
    await this.signals.send(parentId as string, 'done', payload);
    return 'task';
  }

  @Task('outlast-timer')
  async outlast(_input: unknown, { parentId }: TaskContext) {
    await eventually(async () => expect((await this.executions.inspect(parentId as string)).events).toMatchObject([{ kind: 'timer' }]));
    return 'task';
  }

  @Task('cancel-parent')
  async cancel(_input: unknown, { parentId }: TaskContext) {
    await this.executions.cancel(parentId as string, { reason: 'asked by its own task' });
    return 'task';
  }

  @Task('hand-over')
  async handOver(_input: unknown, ctx: TaskContext) {
    tokens.push(await ctx.completeLater());
  }

  @Task('complete-sibling')
  async completeSibling(_input: unknown, { parentId }: TaskContext) {
    await eventually(async () => expect((await this.executions.get(`${parentId}:1`)).status).toBe('suspended'));
    await this.completions.complete(tokens.pop()!, 'sibling');
    return 'task';
  }

  @Task('noop')
  noop(value: unknown) {
    return value;
  }
}

const FLOWS = [
  { name: 'signalled', source: 'return await Promise.race([Task.run("signal-parent", "signal"), Signal.when("done")])' },
  {
    name: 'signalled-later',
    source: `
      await Task.run("signal-parent", "kept");
      await Task.run("noop");
      const first = await Promise.race([Task.run("signal-parent", "second"), Signal.when("done")]);
      return [first, await Signal.when("done")];
    `,
  },
  { name: 'timed', source: 'return await Promise.race([Task.run("outlast-timer"), Timer.sleep(1).then(() => "timer")])' },
  { name: 'cancelled', source: 'await Task.run("cancel-parent"); return "went on"' },
  { name: 'siblings', source: 'return await Promise.race([Task.run("hand-over"), Task.run("complete-sibling")])' },
];

// One task at a time: while it runs the worker claims nothing, so that the wake of the event is taken only after its end.
describe('an event that is committed before the end of a task', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS, worker: { concurrency: 1 } }, { providers: [Tasks] });
  });
  const run = async (name: string) => app.executions.result((await app.executions.start(name)).id, { timeout: '10s' });

  it.each([
    ['a signal', 'signalled', 'signal'],
    ['a timer', 'timed', 'timer'],
    ['the end of another task', 'siblings', 'sibling'],
  ])('comes before it: %s', async (_what, name, outcome) => {
    expect(await run(name)).toBe(outcome);
  });

  it('comes before it: a cancel', async () => {
    await expect(run('cancelled')).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED', reason: 'asked by its own task' });
  });

  it('comes before it even when signals that no wait has taken are stored for the run', async () => {
    expect(await run('signalled-later')).toEqual(['kept', 'second']);
  });
});
