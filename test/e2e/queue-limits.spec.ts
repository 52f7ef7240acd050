// Starts in a queue that is full are refused; what workflows call is not.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { QueueFullError, Task } from '../../src/index.js';
import { useTestDatabase, waitFor } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const FLOWS = [{ name: 'fan', source: 'await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => Task.run("tick", n, { queue: "small" })))' }];

@Injectable()
class Tasks {
  @Task('tick')
  tick(n: number) {
    return n;
  }
}

describe('the limit of a queue', () => {
  const database = useTestDatabase();
  const queues = { full: { maxDepth: 5 }, small: { maxDepth: 3 }, rolled: { maxDepth: 2 } };
  let app: TestApp;
  let source: DataSource;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS, queues, worker: { queues: ['default', 'small'] } }, { providers: [Tasks] });
    source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  });
  afterAll(() => source?.destroy());

  const waiting = async (queue: string) => (await app.executions.status()).queues.find((one) => one.queue === queue)?.waiting ?? 0;
  const start = (queue: string) => app.executions.start('tick', 1, { queue });

  it('refuses the start beyond it with a stable code, and stores nothing of it', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 20 }, () => start('full')));
    const refused = starts.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(15);
    expect(refused[0]).toBeInstanceOf(QueueFullError);
    expect(refused[0]).toMatchObject({ code: 'RHYTHM_QUEUE_FULL', queue: 'full', maxDepth: 5 });
    expect(await waiting('full')).toBe(5);
  });

  it('refuses a batch as a whole, and one that could never fit with another message', async () => {
    const requests = (n: number, queue: string) => Array.from({ length: n }, () => ({ name: 'tick', options: { queue } }));
    await expect(app.executions.startMany([...requests(1, 'full'), ...requests(3, 'elsewhere')])).rejects.toThrow(
      /Queue "full" is full: 5/,
    );
    expect(await waiting('elsewhere')).toBe(0);
    await expect(app.executions.startMany(requests(6, 'small'))).rejects.toThrow(/6 were to be started at once.*Start fewer/);
  });

  it('lets starts through that are not due yet, and those in other queues', async () => {
    await app.executions.start('tick', 1, { queue: 'full', delay: '1h' });
    await start('elsewhere');
    expect(await waiting('full')).toBe(5);
  });

  it('has room again when workers have taken what waited', async () => {
    const done: unknown[] = [];
    for (let n = 0; n < 20; n++) {
      const { id } = await waitFor('room in the queue', () => start('small').catch(() => undefined));
      done.push(await app.executions.result(id, { timeout: '10s' }));
    }
    expect(done).toHaveLength(20);
  });

  it('never refuses what a workflow calls', async () => {
    const { id } = await app.executions.start('fan');
    await app.executions.result(id, { timeout: '10s' });
  });

  it('is for starts in a transaction of the caller too, whose rows do not count before it commits', async () => {
    await expect(
      source.transaction(async (manager) => {
        for (let n = 0; n < 2; n++) await app.executions.start('tick', n, { queue: 'rolled', manager });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await start('rolled');
    await start('rolled');
    await source.transaction(async (manager) => {
      await expect(app.executions.start('tick', 3, { queue: 'rolled', manager })).rejects.toMatchObject({ code: 'RHYTHM_QUEUE_FULL' });
    });
  });

  it('is checked at boot', async () => {
    await expect(startApp(database, { queues: { mail: { maxDepth: 0 } } })).rejects.toThrow(/queues\.mail\.maxDepth/);
    await expect(startApp(database, { queues: { mail: { depth: 1 } as never } })).rejects.toThrow(/Unknown option "depth" in queues\.mail/);
    await expect(startApp(database, { queues: ['mail'] as never })).rejects.toThrow(/queues is .* not an object such as/);
  });
});
