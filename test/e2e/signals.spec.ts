// Signals: before the start, while waiting, in order, once per key, and with a timeout.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

/** Asks for payment until it comes, or five times; `paid` is the branch that waits for it. */
const invoice = (paid: string) => `
let reminders = 0
while (reminders < 5) {
  const first = await Promise.race([${paid}, Timer.sleep(50).then(() => "due")])
  if (first === "paid") break
  reminders++
  await Task.run("remind", { run: Context.executionId, reminders })
}
return reminders`;

@Injectable()
class Reminders {
  readonly sent = new Map<string, number>();
  private readonly open = new Map<string, () => void>();

  /** Runs until it is released: no wait for the payment is open in the meantime. */
  @Task('remind')
  async remind({ run, reminders }: { run: string; reminders: number }): Promise<void> {
    const released = reminders === 1 ? new Promise<void>((resolve) => this.open.set(run, resolve)) : undefined;
    this.sent.set(run, reminders);
    await released;
  }

  release(run: string): void {
    this.open.get(run)?.();
  }
}

const FLOWS = [
  { name: 'invoice-arrow', source: invoice('Signal.when("paid").then(() => "paid")') },
  { name: 'invoice-async', source: invoice('(async () => { await Signal.when("paid"); return "paid" })()') },
  { name: 'invoice-catch', source: invoice('Signal.when("paid").then(() => "paid").catch((error) => console.log(error))') },
  { name: 'one', source: 'return await Signal.when("go")' },
  { name: 'three', source: 'const got = []\nwhile (got.length < 3) got.push(await Signal.when("go"))\nreturn got' },
  { name: 'patient', source: 'try {\n  return await Signal.when("go", { timeout: "100ms" })\n} catch (error) {\n  return error.name\n}' },
  { name: 'calls', source: 'return await Task.run("double", Inputs)' },
  {
    name: 'race',
    source: 'await Promise.race([Signal.when("go"), Timer.sleep(50)])\nawait Timer.sleep(50)\nreturn await Signal.when("go")',
  },
];

@Injectable()
class Tasks {
  @Task('double')
  double(n: number) {
    return n * 2;
  }
}

describe('a signal', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    const imports = [TypeOrmModule.forRoot({ type: 'postgres', url: database.url })];
    app = await startApp(database, { flows: FLOWS }, { imports, providers: [Reminders, Tasks] });
  });
  const result = (id: string) => app.executions.result(id, { timeout: '10s' });

  it('that was sent before the run exists is delivered to it', async () => {
    expect(await app.signals.send('early', 'go', { n: 1 })).toEqual({ accepted: true, known: false, ended: false });
    await app.executions.start('one', undefined, { id: 'early' });
    expect(await result('early')).toEqual({ n: 1 });
  });

  it('wakes a run that waits for it', async () => {
    const { id } = await app.executions.start('one');
    await eventually(async () => expect((await app.executions.get(id)).status).toBe('suspended'));
    expect(await app.signals.send(id, 'go', 'now')).toEqual({ accepted: true, known: true, ended: false });
    expect(await result(id)).toBe('now');
    expect(await app.signals.send(id, 'go', 'late')).toEqual({ accepted: true, known: true, ended: true });
  });

  it('arrives after those sent before it', async () => {
    const { id } = await app.executions.start('three');
    for (const n of [1, 2, 3]) await app.signals.send(id, 'go', n);
    expect(await result(id)).toEqual([1, 2, 3]);
  });

  it('with the same key is stored once', async () => {
    const { id } = await app.executions.start('three');
    expect((await app.signals.send(id, 'go', 'a', { key: 'k1' })).accepted).toBe(true);
    expect((await app.signals.send(id, 'go', 'again', { key: 'k1' })).accepted).toBe(false);
    await app.signals.send(id, 'go', 'b', { key: 'k2' });
    await app.signals.send(id, 'go', 'c');
    expect(await result(id)).toEqual(['a', 'b', 'c']);
  });

  it('that never arrives is a TimeoutError in the flow', async () => {
    const { id } = await app.executions.start('patient');
    expect(await result(id)).toBe('TimeoutError');
  });

  it('is not taken by the loser of a race', async () => {
    const { id } = await app.executions.start('race');
    await eventually(async () => expect((await app.executions.inspect(id)).branches[0]?.stack[0]?.line).toBe(3));
    await app.signals.send(id, 'go', 'mine');
    expect(await result(id)).toBe('mine');
  });

  it.each(['invoice-arrow', 'invoice-async', 'invoice-catch'])(
    'ends the reminders of %s, whose earlier waits lost their race',
    async (name) => {
      const reminders = app.app.get(Reminders);
      const { id } = await app.executions.start(name);
      await eventually(() => expect(reminders.sent.get(id)).toBe(1));
      await app.signals.send(id, 'paid', { by: 'kim' });
      reminders.release(id);
      expect(await result(id)).toBe(1);
    },
  );

  it('is refused with advice when it cannot be sent', async () => {
    await expect(app.signals.send('', 'go')).rejects.toThrow('executionId is empty.');
    await expect(app.signals.send('x', 'a'.repeat(201))).rejects.toThrow(/name has 201 characters; the limit is 200/);
    await expect(app.signals.send('x', 'go', () => 1)).rejects.toThrow('payload is a function, which JSON cannot hold.');
    await expect(app.signals.send('x', 'go', 1, { kee: 'k' } as object)).rejects.toThrow(/Did you mean "key"/);
  });

  // No worker serves this queue before one is started for it, so that one claim takes everything that is queued there.
  const serve = (queue: string) => startApp(database, { worker: { queues: [queue] } }, { providers: [Tasks] });
  const refusal = {
    code: 'RHYTHM_SIGNAL_TO_TASK',
    path: 'executionId',
    message: expect.stringMatching(/"a-task" is a task \("double"\), and only workflows take signals/),
  };

  it('to a task is refused, and the task runs', async () => {
    await app.executions.start('double', 21, { id: 'a-task', queue: 'late' });
    await expect(app.signals.send('a-task', 'go')).rejects.toMatchObject(refusal);
    await expect(app.signals.send('a-task', 'go', 1, { key: 'k' })).rejects.toMatchObject(refusal);
    const run = await app.app.get(DataSource).transaction(async (manager) => {
      await expect(app.signals.send('a-task', 'go', 1, { manager })).rejects.toMatchObject(refusal);
      // Nothing was written, and the transaction continues.
      return app.executions.start('one', undefined, { manager });
    });
    await app.signals.send(run.id, 'go', 'after the refusal');
    expect(await result(run.id)).toBe('after the refusal');
    const worker = await serve('late');
    expect(await result('a-task')).toBe(42);
    expect(await app.executions.inspect('a-task')).toMatchObject({ signals: [], timers: [] });
    await expect(app.signals.send('a-task', 'go')).rejects.toMatchObject(refusal);
    await worker.close();
  });

  it('to a task that is called by a workflow is refused with the id of the workflow', async () => {
    const { id } = await app.executions.start('calls', 4);
    expect(await result(id)).toBe(8);
    await expect(app.signals.send(`${id}:1`, 'go')).rejects.toThrow(`The workflow that called it is "${id}".`);
  });

  it('that was sent before a task with that id exists does not keep the task from running, and is dropped', async () => {
    await app.app.get(DataSource).transaction(async (manager) => {
      expect(await app.signals.send('early-task', 'go', 1, { manager })).toMatchObject({ known: false });
      await app.executions.start('double', 4, { id: 'early-task', queue: 'later' });
    });
    // The signal looks for its run once its transaction has committed.
    await eventually(async () => expect((await app.executions.inspect('early-task')).timers).toEqual([]));
    const worker = await serve('later');
    expect(await result('early-task')).toBe(8);
    await eventually(async () => expect((await app.executions.inspect('early-task')).signals).toEqual([]));
    await worker.close();
  });
});
