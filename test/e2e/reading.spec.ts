// Reading executions: lists and pages, the tree, the history, and the line that a run has reached.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

@Injectable()
class Tasks {
  @Task('price')
  price({ n }: { n: number }) {
    return n * 10;
  }

  @Task('broken', { retry: { maxAttempts: 2, delay: 1 } })
  broken() {
    throw new Error('no');
  }
}

const ORDER = `const total = await Task.run("price", { n: Inputs.n })
async function approve(limit) {
  const answer = await Signal.when("approval", { timeout: "24h" })
  return answer.ok && total < limit
}
console.log("asking for", total)
const ok = await approve(1000)
return { total, ok }`;

const FLOWS = [
  { name: 'order', source: ORDER },
  { name: 'shop', source: 'return await Workflow.run("order", Inputs, { id: Inputs.id })' },
  { name: 'breaks', source: 'await Task.run("broken")' },
  { name: 'faulty', source: 'const n = await Task.run("price", { n: 1 })\nconst order = null\nreturn order.total + n' },
  { name: 'sleeps', source: 'await Timer.sleep("1h")' },
];

describe('reading executions', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS }, { providers: [Tasks] });
  });

  it('pages through a list, newest first, without gaps or duplicates', async () => {
    const started = await app.executions.startMany(
      Array.from({ length: 23 }, (_, n) => ({ name: 'price', input: { n }, options: { tags: ['paged', `n${n % 2}`] } })),
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await app.executions.list({ tag: 'paged', limit: 10, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    } while (cursor);
    expect(seen).toHaveLength(23);
    expect(new Set(seen)).toEqual(new Set(started.map(({ id }) => id)));
    expect((await app.executions.list({ tag: 'n1', limit: 100 })).items).toHaveLength(11);
  });

  it('filters by status, name, type, queue, parent and time', async () => {
    const { id } = await app.executions.start('breaks');
    await app.executions.result(id, { timeout: '10s' }).catch(() => undefined);
    const failed = await app.executions.list({ status: 'failed', type: 'workflow' });
    expect(failed.items.map((item) => item.id)).toEqual([id]);
    const children = await app.executions.list({ parentId: id });
    expect(children.items).toMatchObject([{ name: 'broken', status: 'failed', attempts: 2, error: { message: 'no' } }]);
    expect((await app.executions.list({ name: 'breaks', queue: 'default', parentId: null })).items).toHaveLength(1);
    expect((await app.executions.list({ name: 'breaks', createdBefore: Date.now() - 3_600_000 })).items).toHaveLength(0);
    await app.executions.start('price', { n: 1 }, { queue: 'unserved-queue', id: 'unserved' });
    expect((await app.executions.list({ status: ['pending', 'running'] })).items.map((item) => item.id)).toEqual(['unserved']);
    expect((await app.executions.status()).queues).toContainEqual(
      expect.objectContaining({ queue: 'unserved-queue', waiting: 1, workers: 0 }),
    );
  });

  it('is refused for an invalid filter', async () => {
    await expect(app.executions.list({ state: 'failed' } as object)).rejects.toThrow(
      /Unknown option "state".*Did you mean "status"|Unknown option "state"/,
    );
    await expect(app.executions.list({ status: 'faild' as never })).rejects.toThrow(/not one of "pending"/);
    await expect(app.executions.list({ limit: 0 })).rejects.toThrow(/between 1 and 1000/);
    await expect(app.executions.list({ cursor: 'nonsense' })).rejects.toThrow(/not one that list\(\) returned/);
  });

  it('shows where a run is: file, line, stack, locals and what it waits for', async () => {
    const { id } = await app.executions.start('order', { n: 7 });
    await eventually(async () => expect((await app.executions.inspect(id)).branches[0]?.waitsFor).toMatch(/signal "approval"/));
    const inspection = await app.executions.inspect(id);
    expect(inspection).toMatchObject({ id, name: 'order', status: 'suspended', file: 'order.flow' });
    const [top, main] = inspection.branches.flatMap((branch) => branch.stack);
    expect(top).toMatchObject({ function: 'approve', line: 3, sourceLine: expect.stringContaining('Signal.when("approval"') });
    expect(top?.locals).toMatchObject({ limit: 1000, total: 70 });
    expect(main).toMatchObject({ line: 7 });
    expect(inspection.timers).toHaveLength(1);
    expect(inspection.text).toContain('order.flow:3');
    await app.signals.send(id, 'approval', { ok: true });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual({ total: 70, ok: true });
  });

  it('shows why a run failed, and the line of the error', async () => {
    const { id } = await app.executions.start('faulty');
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_FAILED' });
    const { text } = await app.executions.inspect(id);
    const [head, error, place, line] = text.split('\n');
    expect(head).toBe('workflow "faulty" is failed');
    expect(error).toMatch(/^TypeError: .*total/);
    expect(place).toMatch(/^ {2}at main \(faulty\.flow:3:\d+\)$/);
    expect(line).toBe('    3 | return order.total + n');
    expect(text).not.toMatch(/^waits for/m);
    const { id: other } = await app.executions.start('sleeps');
    await eventually(async () => expect((await app.executions.get(other)).status).toBe('suspended'));
    await app.executions.cancel(other, { reason: 'the shop is closed' });
    await expect(app.executions.result(other, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    const cancelled = (await app.executions.inspect(other)).text;
    expect(cancelled).toMatch(/^workflow "sleeps" is cancelled\nCancelledError: the shop is closed/);
    expect(cancelled).not.toMatch(/waits for|retry/);
  });

  it('shows the tree of a run, including children with ids of their own', async () => {
    const { id } = await app.executions.start('shop', { n: 3, id: 'own-id' });
    await app.signals.send('own-id', 'approval', { ok: true });
    await app.executions.result(id, { timeout: '10s' });
    const tree = await app.executions.tree(id);
    expect(tree).toMatchObject({ id, children: [{ id: 'own-id', name: 'order', children: [{ name: 'price', status: 'completed' }] }] });
  });

  it('shows what happened, when and where', async () => {
    const { id } = await app.executions.start('order', { n: 2 });
    await app.signals.send(id, 'approval', { ok: false });
    await app.executions.result(id, { timeout: '10s' });
    const history = await app.executions.history(id);
    const kinds = history.map((entry) => entry.kind);
    expect(kinds[0]).toBe('created');
    expect(kinds.at(-1)).toBe('completed');
    expect(kinds).toEqual(expect.arrayContaining(['started', 'step-created', 'step-completed', 'log']));
    expect(history.find((entry) => entry.kind === 'completed')?.workerId).toBeTruthy();
    await expect(app.executions.history('missing')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    await expect(app.executions.tree('missing')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    await expect(app.executions.inspect('missing')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });
});
