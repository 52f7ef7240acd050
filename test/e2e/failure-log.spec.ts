// Failures in the log of an application: each attempt and each run once, at its level, without payloads.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { type EngineEvent, NonRetryableError, RhythmEvents, type RhythmModuleOptions, Task, type TaskContext } from '../../src/index.js';
import { useTestDatabase, waitFor } from '../support/index.js';
import { SILENT, startApp } from './start-app.js';

const SECRET = 'card-4111';
const FLOWS = [
  { name: 'order', source: 'return await Task.run("charge", Inputs)' },
  { name: 'caught', source: 'try { await Task.run("refuse", Inputs) } catch { return "went on" }' },
  { name: 'patient', source: 'await Signal.when("never")' },
];

@Injectable()
class Tasks {
  static token: string | undefined;

  @Task('charge', { retry: { maxAttempts: 3, delay: 1 } })
  charge(input: { card: string }) {
    throw Object.assign(new Error('the bank\ndoes not reply'), { code: 'BANK_DOWN', data: { card: input.card } });
  }

  @Task('refuse')
  refuse() {
    throw new NonRetryableError('no such card', { data: { card: SECRET } });
  }

  @Task('ask')
  async ask(_: unknown, context: TaskContext) {
    Tasks.token = await context.completeLater();
  }
}

describe('failures in the log', () => {
  const database = useTestDatabase();
  const lines: string[] = [];
  const note =
    (level: string) =>
    (message: unknown, ...rest: unknown[]) => {
      if (/ failed|more /.test(String(message))) lines.push(`${level} ${rest.at(-1)} ${String(message)}`);
    };
  beforeEach(() => {
    lines.length = 0;
  });
  afterEach(() => Logger.overrideLogger(SILENT));

  const start = async (options: RhythmModuleOptions = {}) => {
    const running = await startApp(database, { flows: FLOWS, ...options }, { providers: [Tasks] });
    Logger.overrideLogger({ log: note('log'), warn: note('warn'), error: note('error') });
    return running;
  };
  const of = (id: string) => lines.filter((line) => line.includes(`execution ${id}`));

  it('has a warning for each attempt that is tried again, and one error for each execution that failed', async () => {
    const { app, executions, close } = await start();
    const seen: EngineEvent[] = [];
    app.get(RhythmEvents).subscribe(['retried', 'failed'], (event) => seen.push(event));
    const { id } = await executions.start('order', { card: SECRET });
    await waitFor('the failure of the run', () => of(`${id})`).length > 0);
    expect(of(`${id}:1`)).toEqual([
      expect.stringMatching(
        /^warn Rhythm Task "charge" \(execution .*:1\) failed in attempt 1 and is tried again in \d+ ms\. Error \[BANK_DOWN\]: the bank does not reply$/,
      ),
      expect.stringMatching(/^warn Rhythm Task "charge" .* failed in attempt 2 /),
      expect.stringMatching(/^error Rhythm Task "charge" .* failed after 3 attempts\. Error \[BANK_DOWN\]: the bank does not reply$/),
    ]);
    expect(of(`${id})`)).toEqual([expect.stringMatching(/^error Rhythm Workflow "order" \(execution .*\) failed\. TaskError/)]);
    await close();
    expect(lines).toHaveLength(4);
    expect(seen).toHaveLength(4);
    expect(JSON.stringify([lines, seen])).not.toContain(SECRET);
  });

  it('has the failed task of a flow that catches its error, and nothing of the flow', async () => {
    const { executions, close } = await start();
    const { id } = await executions.start('caught', { card: SECRET });
    expect(await executions.result(id, { timeout: '10s' })).toBe('went on');
    await waitFor('the failure of the task', () => lines.length > 0);
    await close();
    expect(lines).toEqual([expect.stringMatching(/^error Rhythm Task "refuse" .* failed after 1 attempt\. .*no such card$/)]);
    expect(lines.join('\n')).not.toContain(SECRET);
  });

  it('has an execution that its time limit ended, and none that was cancelled', async () => {
    const { executions, close } = await start();
    const cancelled = await executions.start('patient');
    await executions.cancel(cancelled.id);
    await expect(executions.result(cancelled.id, { timeout: '10s' })).rejects.toThrow(/was cancelled/);
    const late = await executions.start('patient', undefined, { totalTimeout: '50ms' });
    await waitFor('the end of the late run', () => of(late.id).length > 0);
    await close();
    expect(lines).toEqual([
      expect.stringMatching(/^error Rhythm Workflow "patient" .* failed\. TimeoutError \[RHYTHM_TIMEOUT\]: .* longer than 50 ms\.$/),
    ]);
  });

  it('has a task that an API process fails with its token', async () => {
    const worker = await start();
    const { id } = await worker.executions.start('ask');
    await waitFor('the token', () => Tasks.token !== undefined);
    const api = await start({ role: 'api' });
    await api.completions.fail(Tasks.token!, { message: 'the partner said no', data: { card: SECRET } });
    await api.close();
    await worker.close();
    expect(lines).toEqual([`error Rhythm Task "ask" (execution ${id}) failed after 1 attempt. Error: the partner said no`]);
  });

  it('has only errors, or nothing, if it is set so', async () => {
    for (const [failures, expected] of [
      ['final', 2],
      ['none', 0],
    ] as const) {
      lines.length = 0;
      const { app, executions, close } = await start({ log: { failures } });
      const ended: string[] = [];
      app.get(RhythmEvents).subscribe(['finished'], ({ executionId }) => ended.push(executionId));
      const { id } = await executions.start('order', { card: SECRET });
      await waitFor('the end of the run', () => ended.includes(id));
      await close();
      expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(expected);
      expect(lines).toHaveLength(expected);
    }
  });

  it('counts what is beyond the limit of a minute instead of logging it', async () => {
    const { app, executions, close } = await start({ log: { failuresPerMinute: 2 } });
    let ended = 0;
    app.get(RhythmEvents).subscribe(['finished'], ({ name }) => name === 'refuse' && ended++);
    await executions.startMany(Array.from({ length: 40 }, () => ({ name: 'refuse' })));
    await waitFor('all of them to fail', () => ended === 40);
    expect(lines).toHaveLength(2);
    await close();
    expect(lines).toHaveLength(3);
    expect(lines[2]).toBe('error Rhythm 38 more failures of task "refuse" were not logged (log.failuresPerMinute).');
  });
});
