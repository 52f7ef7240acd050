// The command line: it runs and checks flows without a database, migrates one, and returns the documented exit codes.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { SCHEMA_VERSION } from '../../libs/store/index.js';
import { useTestDatabase } from '../../test/support/index.js';
import { runCli } from './run-cli.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function rhythm(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const out = new PassThrough({ encoding: 'utf8' });
  const err = new PassThrough({ encoding: 'utf8' });
  const code = await runCli(args, { out, err });
  return { code, out: out.read() ?? '', err: err.read() ?? '' };
}

describe('rhythm run', () => {
  const order = () =>
    file(
      'order.flow',
      `const { id } = await Task.run("charge", { amount: Inputs.amount })
console.log("charged", id)
await Timer.sleep("3d")
const answer = await Signal.when("approval", { timeout: "24h" })
const shipped = await Workflow.run("ship", { id })
return { id, answer, shipped }`,
    );

  it('uses stubs for tasks, skips timers, sends signals and runs a child flow from the same folder', async () => {
    file('ship.flow', 'return "shipped " + Inputs.id');
    const stubs = file('stubs.json', '{ "charge": { "id": "c-1" } }');
    const { code, out, err } = await rhythm(
      'run',
      order(),
      '--inputs',
      '{"amount":5}',
      '--tasks',
      stubs,
      '--signals',
      '{"approval":"yes"}',
    );
    expect({ code, result: JSON.parse(out) }).toEqual({ code: 0, result: { id: 'c-1', answer: 'yes', shipped: 'shipped c-1' } });
    expect(err).toContain('task charge {"amount":5}');
    expect(err).toContain('charged c-1');
    expect(err).toContain('timer 3d 00:00:00.000');
  });

  it('prints what happened and when, and adds the time that a child takes to its caller', async () => {
    const flow = file(
      'parent.flow',
      `await Signal.when("go", { timeout: "24h" })
const child = Workflow.run("slow-child")
const first = await Promise.race([child, Timer.sleep("100ms").then(() => "timer")])
const late = await Promise.race([Signal.when("never"), child.catch((error) => error.message)])
await Task.run("refund")
return [first, late]`,
    );
    file('slow-child.flow', 'await Timer.sleep("300ms")\nawait Task.run("refund")\nthrow new Error("broke")');
    const stubs = file('refund.json', '{ "refund": 1 }');
    const { out, err } = await rhythm('run', flow, '--tasks', stubs, '--signals', '{"go":{"ok":true}}');
    expect(JSON.parse(out)).toEqual(['timer', 'broke']);
    expect(err.trimEnd().split('\n')).toEqual([
      '00:00:00.000  waits for signal go, at most 1d 00:00:00.000',
      '00:00:00.000  signal go {"ok":true}',
      '00:00:00.000  workflow slow-child',
      '  00:00:00.000  timer 00:00:00.300',
      '  00:00:00.300  task refund',
      '00:00:00.000  timer 00:00:00.100',
      '00:00:00.100  waits for signal never',
      '00:00:00.300  task refund',
      '00:00:00.300  no longer waits for signal never',
    ]);
  });

  it('goes on beside a detached child, as the engine does: its call returns its id, and its end is its own', async () => {
    const flow = file(
      'detaches.flow',
      `const id = await Workflow.run("long-child", { n: 1 }, { detached: true })
const own = await Workflow.run("broken-child", {}, { detached: true, id: "own-id" })
await Task.run("refund")
return [typeof id, own]`,
    );
    file('long-child.flow', 'await Timer.sleep("3d"); await Task.run("refund")');
    file('broken-child.flow', 'await Signal.when("never")');
    const stubs = file('refund.json', '{ "refund": 1 }');
    const { code, out, err } = await rhythm('run', flow, '--tasks', stubs);
    expect({ code, result: JSON.parse(out) }).toEqual({ code: 0, result: ['string', 'own-id'] });
    expect(err.trimEnd().split('\n')).toEqual([
      '00:00:00.000  detached workflow long-child {"n":1}',
      '  00:00:00.000  timer 3d 00:00:00.000',
      '  3d 00:00:00.000  task refund',
      '00:00:00.000  detached workflow broken-child {}',
      '  00:00:00.000  waits for signal never',
      '00:00:00.000  detached workflow broken-child: waits forever for the signal "never"',
      '00:00:00.000  task refund',
    ]);
  });

  it('takes functions as stubs, and the flow gets the error of one that throws', async () => {
    const stubs = file(
      'stubs.mjs',
      'export default { charge: ({ amount }) => { throw Object.assign(new Error("declined " + amount), { code: "NO" }) } }',
    );
    const flow = file(
      'catches.flow',
      'try { await Task.run("charge", { amount: 2 }) } catch (error) { return [error.name, error.message, error.code] }',
    );
    const { code, out } = await rhythm('run', flow, '--tasks', stubs, '--quiet');
    expect({ code, result: JSON.parse(out) }).toEqual({ code: 0, result: ['TaskError', 'declined 2', 'NO'] });
  });

  it('shows where a run failed', async () => {
    const flow = file('fails.flow', 'const x = null\nreturn x.y');
    const { code, err } = await rhythm('run', flow);
    expect(code).toBe(1);
    expect(err).toMatch(/failed: TypeError/);
    expect(err).toContain('fails.flow:2');
  });

  it('shows a compile error with a caret', async () => {
    const flow = file('wrong.flow', 'let a = 1\nvar b = 2');
    const { code, err } = await rhythm('run', flow);
    expect(code).toBe(1);
    expect(err).toMatch(/wrong\.flow:2:1/);
    expect(err).toMatch(/\^\^\^/);
  });

  it('shows what a stuck run waits for', async () => {
    const flow = file('stuck.flow', 'return await Signal.when("go")');
    const { code, err } = await rhythm('run', flow);
    expect(code).toBe(1);
    expect(err).toContain('stuck: it waits for the signal "go". Send it with --signals.');
  });

  it('treats a missing stub, a missing file and invalid JSON as wrong usage', async () => {
    const missing = await rhythm('run', order(), '--inputs', '{"amount":5}', '--tasks', file('few.json', '{ "chrge": 1 }'));
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('which has no stub. Did you mean "chrge"?') });
    expect(await rhythm('run', join(folder, 'none.flow'))).toMatchObject({ code: 2, err: expect.stringContaining('does not exist') });
    const json = await rhythm('run', order(), '--inputs', '{"a": tru}');
    expect(json.code).toBe(2);
    expect(json.err).toMatch(/--inputs is not valid JSON: .*\n {2}1 \| \{"a": tru\}\n {4}\| +\^/);
  });

  it('prints one JSON document with --json', async () => {
    const { out, err } = await rhythm('run', file('one.flow', 'return 1'), '--json');
    expect([JSON.parse(out), err]).toEqual([{ ok: true, command: 'run', data: { status: 'completed', output: 1, elapsedMs: 0 } }, '']);
  });
});

describe('rhythm check', () => {
  it('accepts valid flows, found by folder, file or pattern', async () => {
    const good = mkdtempSync(join(folder, 'good-'));
    writeFileSync(join(good, 'a.flow'), 'return 1');
    writeFileSync(join(good, 'b.flow'), 'return 2');
    expect(await rhythm('check', good)).toMatchObject({ code: 0, err: 'No errors in 2 files.\n' });
    expect(await rhythm('check', join(good, 'a.flow'))).toMatchObject({ code: 0, err: 'No errors in 1 file.\n' });
    expect(await rhythm('check', join(good, '**/*.flow'))).toMatchObject({ code: 0, err: 'No errors in 2 files.\n' });
    expect(await rhythm('check', join(good, '{a,c}.flow'))).toMatchObject({ code: 0, err: 'No errors in 1 file.\n' });
  });

  it('reports every error in every file', async () => {
    const bad = mkdtempSync(join(folder, 'bad-'));
    writeFileSync(join(bad, 'a.flow'), 'var a = 1\nclass B {}');
    writeFileSync(join(bad, 'b.flow'), 'return (');
    const { code, out, err } = await rhythm('check', bad);
    expect(code).toBe(1);
    expect(out).toMatch(/a\.flow:1:1[\s\S]*a\.flow:2:1[\s\S]*b\.flow:1:/);
    expect(err).toContain('3 errors in 2 of 2 files.');
    const json = JSON.parse((await rhythm('check', bad, '--json')).out);
    expect(json).toMatchObject({ ok: false, command: 'check' });
    expect(json.data.errors).toHaveLength(3);
    expect(json.data.errors[0]).toMatchObject({ line: 1, column: 1, code: expect.stringMatching(/^FLOW_/), advice: expect.any(String) });
  });

  it('refuses paths that do not exist, and suggests the nearest command or flag for an unknown one', async () => {
    expect(await rhythm('check', join(folder, 'nowhere'))).toMatchObject({ code: 2 });
    expect(await rhythm('chekc', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean check?') });
    expect(await rhythm('check', folder, '--jsn')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean --json?') });
    expect(await rhythm('--help')).toMatchObject({ code: 0, out: expect.stringContaining('Exit codes') });
  });
});

describe('rhythm migrate', () => {
  const database = useTestDatabase();

  it('brings a database up to date, shows what is missing, and undoes a migration', async () => {
    const flags = ['--database-url', database.url];
    const before = await rhythm(...flags, 'migrate', '--status', '--json');
    expect(before.code).toBe(1);
    expect(JSON.parse(before.out)).toMatchObject({ ok: false, command: 'migrate', data: { schema: 'rhythm', version: 0, applied: [] } });
    const up = await rhythm(...flags, 'migrate');
    expect(up).toMatchObject({ code: 0, out: expect.stringMatching(/^applied {2}\S+/) });
    expect(up.err).not.toContain(new URL(database.url).password);
    expect(await rhythm(...flags, 'migrate')).toMatchObject({ code: 0, out: '' });
    expect((await rhythm(...flags, 'migrate', '--status')).code).toBe(0);
    expect(await rhythm(...flags, 'migrate', '--down')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/The data in its tables is lost[\s\S]*pass --yes/),
    });
    expect(await rhythm(...flags, 'migrate', '--down', '--yes')).toMatchObject({ code: 0, out: expect.stringMatching(/^undone {3}\S+/) });
    expect((await rhythm(...flags, 'migrate', '--status')).code).toBe(1);
  });

  it('prints the missing SQL, which has the same effect as migrate', async () => {
    const flags = ['--database-url', database.url];
    const { code, out } = await rhythm(...flags, 'migrate', '--dry-run');
    expect(code).toBe(0);
    expect(out).toMatch(/^-- Initial\d+\nCREATE SCHEMA IF NOT EXISTS "rhythm";/);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      expect((await client.query(`select to_regclass('rhythm.executions') as t`)).rows).toEqual([{ t: null }]);
      await client.query(out);
      expect((await client.query('select version from rhythm.schema_info')).rows).toEqual([{ version: SCHEMA_VERSION }]);
      await client.query('drop schema rhythm cascade');
    } finally {
      await client.end();
    }
  });

  it('names a database that cannot be reached, and explains how to set one when none is configured', async () => {
    const away = await rhythm('--database-url', 'postgres://ann:s3cret@127.0.0.1:1/x', 'migrate');
    expect(away).toMatchObject({
      code: 3,
      err: expect.stringMatching(/Cannot connect to PostgreSQL at postgres:\/\/ann:\*\*\*@127\.0\.0\.1:1\/x/),
    });
    expect(await rhythm('--config', join(folder, 'none.toml'), 'migrate')).toMatchObject({ code: 2 });
    expect(await rhythm('migrate')).toMatchObject({ code: 2, err: expect.stringContaining('No database is configured') });
    expect((await rhythm('list')).err).toContain('rhythm list --database-url embedded');
  });

  it('shows the settings even if no database is set', async () => {
    const shown = await rhythm('doctor', '--config');
    expect(shown).toMatchObject({ code: 0, out: expect.stringMatching(/database\.url +\(not set\) +default\n/) });
    expect(await rhythm('doctor')).toMatchObject({ code: 2, err: expect.stringContaining('No database is configured') });
  });
});
