// Signals: before the start, while waiting, in order, once per key, and with a timeout.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const FLOWS = [
  { name: 'one', source: 'return await Signal.when("go")' },
  { name: 'three', source: 'const got = []\nwhile (got.length < 3) got.push(await Signal.when("go"))\nreturn got' },
  { name: 'patient', source: 'try {\n  return await Signal.when("go", { timeout: "100ms" })\n} catch (error) {\n  return error.name\n}' },
  {
    name: 'race',
    source: 'await Promise.race([Signal.when("go"), Timer.sleep(50)])\nawait Timer.sleep(50)\nreturn await Signal.when("go")',
  },
];

describe('a signal', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS });
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

  it('with the same key counts once', async () => {
    const { id } = await app.executions.start('three');
    expect((await app.signals.send(id, 'go', 'a', { key: 'k1' })).accepted).toBe(true);
    expect((await app.signals.send(id, 'go', 'again', { key: 'k1' })).accepted).toBe(false);
    await app.signals.send(id, 'go', 'b', { key: 'k2' });
    await app.signals.send(id, 'go', 'c');
    expect(await result(id)).toEqual(['a', 'b', 'c']);
  });

  it('that never comes is a TimeoutError in the flow', async () => {
    const { id } = await app.executions.start('patient');
    expect(await result(id)).toBe('TimeoutError');
  });

  it('is not eaten by the loser of a race', async () => {
    const { id } = await app.executions.start('race');
    await eventually(async () => expect((await app.executions.inspect(id)).branches[0]?.stack[0]?.line).toBe(3));
    await app.signals.send(id, 'go', 'mine');
    expect(await result(id)).toBe('mine');
  });

  it('is refused with advice when it cannot be sent', async () => {
    await expect(app.signals.send('', 'go')).rejects.toThrow('executionId is empty.');
    await expect(app.signals.send('x', 'a'.repeat(201))).rejects.toThrow(/name has 201 characters; the limit is 200/);
    await expect(app.signals.send('x', 'go', () => 1)).rejects.toThrow('payload is a function, which JSON cannot hold.');
    await expect(app.signals.send('x', 'go', 1, { kee: 'k' } as object)).rejects.toThrow(/Did you mean "key"/);
  });
});
