// What runs wait for, through the services and the command: lists, counts by version and line, status, and refused arguments.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { callRhythm as cli } from '../cli/call-cli.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const ORDER = `async function paid() {
  return await Signal.when("paid", { timeout: "24h" })
}
return await paid()`;
const FLOWS = [
  { name: 'order', source: ORDER },
  { name: 'shop', source: 'return await Workflow.run("order", 1)' },
  { name: 'both', source: 'return await Promise.all([Signal.when("a"), Signal.when("b"), Timer.sleep("1h")])' },
  { name: 'sleeps', source: '\nawait Timer.sleep("1h")' },
];

describe('what runs wait for', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS });
    Object.assign(process.env, { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema });
    await app.executions.start('order', 1, { id: 'o-1', tags: ['red'] });
    await app.executions.start('order', 2, { id: 'o-2' });
    await app.executions.start('shop', 3, { id: 's-1' });
    await app.executions.start('sleeps', 4, { id: 't-1' });
    await eventually(async () => expect((await app.executions.status()).waiting).toEqual({ signal: 3, child: 1, timer: 1 }));
  });
  const ids = async (options: Parameters<TestApp['executions']['list']>[0]) =>
    (await app.executions.list(options)).items.map(({ id }) => id);

  it('is a filter of lists, with the others', async () => {
    expect(await ids({ waitsFor: { kind: 'signal', name: 'paid' } })).toEqual(['s-1:1', 'o-2', 'o-1']);
    expect(await ids({ waitsFor: { kind: 'signal', name: 'paid' }, parentId: null })).toEqual(['o-2', 'o-1']);
    expect(await ids({ waitsFor: { kind: 'signal' }, tag: 'red' })).toEqual(['o-1']);
    expect(await ids({ waitsFor: { kind: 'child', name: 'order' } })).toEqual(['s-1']);
    expect(await ids({ waitsFor: { kind: 'timer' }, name: 'sleeps', status: 'suspended' })).toEqual(['t-1']);
    expect(await ids({ waitsFor: { kind: 'timer' }, status: 'paused' })).toEqual([]);
    expect(await ids({ waitsFor: { kind: 'signal', name: "o'; DROP TABLE x" } })).toEqual([]);
    expect(await ids({ status: 'suspended' })).toHaveLength(5);
    expect(await ids({ status: 'suspended' })).toEqual(await ids({ status: ['suspended', 'failed'] }));
    const first = await app.executions.list({ waitsFor: { kind: 'signal' }, limit: 2 });
    const second = await app.executions.list({ waitsFor: { kind: 'signal' }, limit: 2, cursor: first.next });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['s-1:1', 'o-2', 'o-1']);
    expect(second.next).toBeUndefined();
  });

  it('is counted by workflow version and source line', async () => {
    const [{ version }] = await app.definitions.versions('order');
    expect(await app.executions.waiting({ workflow: 'order', version })).toEqual([
      { workflow: 'order', version, kind: 'signal', name: 'paid', line: 2, function: 'paid', runs: 3 },
    ]);
    expect(await app.executions.waiting({ workflow: 'order', version: 'another' })).toEqual([]);
    expect((await app.executions.waiting()).map(({ workflow, kind, line, runs }) => [workflow, kind, line, runs])).toEqual([
      ['order', 'signal', 2, 3],
      ['shop', 'child', 1, 1],
      ['sleeps', 'timer', 2, 1],
    ]);
    expect(await app.executions.waiting({ limit: 1 })).toHaveLength(1);
  });

  it('counts each run once for its version, whatever it waits for, and while it is paused', async () => {
    const runs = async () => {
      const { versions } = await app.executions.status();
      return Object.fromEntries(versions.map((each) => [each.name, each.runs]));
    };
    expect(await runs()).toEqual({ order: 3, shop: 1, sleeps: 1 });
    for (const id of ['b-1', 'b-2']) await app.executions.start('both', undefined, { id });
    await eventually(async () => expect(await runs()).toMatchObject({ both: 2 }));
    await app.executions.pause('b-1');
    expect(await runs()).toMatchObject({ both: 2 });
    await app.executions.resume('b-1');
    for (const id of ['b-1', 'b-2']) await app.executions.cancel(id);
    await eventually(async () => expect(await runs()).toEqual({ order: 3, shop: 1, sleeps: 1 }));
  });

  it.each([
    [{ waitsFor: { kind: 'signals' } }, 'options.waitsFor.kind is "signals", not one of "signal", "timer"'],
    [{ waitsFor: { kind: 'signal', nam: 'x' } }, 'Unknown option "nam" in options.waitsFor. Did you mean "name"?'],
    [{ waitsFor: { kind: 'timer', name: 'x' } }, 'waits for no name'],
    [{ waitsFor: { kind: 'task', name: 'x'.repeat(201) } }, 'has 201 characters; the limit is 200'],
    [{ waitsFor: 'signal:paid' }, 'not an object of options'],
  ])('is refused as %j', async (options, message) => {
    await expect(app.executions.list(options as never)).rejects.toThrow(message);
  });

  it('is refused when a version is counted without its workflow', async () => {
    await expect(app.executions.waiting({ version: 'v' })).rejects.toThrow('Name the workflow too');
    await expect(app.executions.waiting({ limit: 0 })).rejects.toThrow('options.limit is 0; it must be between 1 and 10000');
  });

  it('is shown by the command: list, waiting and status', async () => {
    const listed = JSON.parse((await cli(['list', '--all', '--waits-for', 'signal:paid', '--json'])).out);
    expect(listed.data.items.map(({ id }: { id: string }) => id)).toEqual(['s-1:1', 'o-2', 'o-1']);
    const table = (await cli(['waiting', 'order'])).out;
    expect(table).toMatch(/WORKFLOW +VERSION +LINE +FUNCTION +WAITS FOR +RUNS/);
    expect(table).toMatch(/order +[0-9a-f]{12} +2 +paid +signal paid +3/);
    expect((await cli(['status'])).out).toContain('suspended: 3 signal, 1 timer, 1 child');
    const wrong = await cli(['list', '--waits-for', 'signl:paid']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain('Did you mean "signal"?');
    expect((await cli(['list', '--waits-for', 'task:'])).err).toContain('has no name after the colon');
  });
});
