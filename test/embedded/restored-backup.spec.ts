// A database that was restored from a backup: its runs go on from what they were, and repeat later steps with the same keys.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startEmbedded } from '../../libs/embedded/index.js';
import { Task, type TaskContext } from '../../src/index.js';
import { startApp, type TestApp } from '../e2e/start-app.js';
import { eventually } from '../support/index.js';

const FLOW = `
await Task.run('charge');
const due = Timer.sleep('1s');
const answer = await Signal.when('answer');
await due;
await Task.run('ship', answer);
return answer`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'rhythm-restored-'));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `work` with an app on the data in a folder; returns which steps ran, with their keys. */
async function onDataIn(name: string, work: (app: TestApp) => Promise<void>): Promise<string[]> {
  const done: string[] = [];
  class Tasks {
    @Task('charge')
    charge(_: unknown, { idempotencyKey }: TaskContext) {
      done.push(`charge ${idempotencyKey}`);
    }

    @Task('ship')
    ship(answer: string, { idempotencyKey }: TaskContext) {
      done.push(`ship ${answer} ${idempotencyKey}`);
    }
  }
  const server = await startEmbedded({ dataDir: join(folder, name), durable: false });
  try {
    const options = { flows: [{ name: 'order', source: FLOW }], worker: { heartbeatInterval: '200ms', deadAfter: '600ms' } };
    const app = await startApp({ url: server.url, schema: 'rhythm' }, options, { providers: [Tasks] });
    await work(app);
    await app.close();
  } finally {
    await server.stop();
  }
  return done;
}

it('goes on from the time of the backup: later steps run again with their keys, later starts and signals are gone, timers fire', async () => {
  const before = await onDataIn('live', async ({ executions }) => {
    await executions.start('order', {}, { id: 'o-1' });
    await eventually(async () => expect((await executions.inspect('o-1')).text).toContain('waits for signal "answer"'));
  });
  // As a base backup has it: all files of a server, here of one that was stopped.
  execFileSync('cp', ['-a', join(folder, 'live'), join(folder, 'backup')]);
  const after = await onDataIn('live', async ({ executions, signals }) => {
    await signals.send('o-1', 'answer', 'yes', { key: 'a' });
    expect(await executions.result('o-1')).toBe('yes');
    await executions.start('order', {}, { id: 'o-2' });
  });
  const restored = await onDataIn('backup', async ({ executions, signals }) => {
    expect(await executions.get('o-1')).toMatchObject({ status: 'suspended' });
    await expect(executions.get('o-2')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    expect(await signals.send('o-1', 'answer', 'yes', { key: 'a' })).toMatchObject({ accepted: true });
    expect(await executions.result('o-1')).toBe('yes');
  });
  expect(before).toEqual([expect.stringMatching(/^charge /)]);
  expect(after.filter((step) => step.startsWith('ship'))).toHaveLength(1);
  expect(restored).toEqual(after.filter((step) => step.startsWith('ship')));
}, 120_000);
