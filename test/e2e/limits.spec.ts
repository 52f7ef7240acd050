// What a flow may name, and how large its state may become, as set by options of the module.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { FileSnapshotStore, Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

@Injectable()
class Tasks {
  @Task('harmless')
  harmless() {
    return 'done';
  }

  @Task('dangerous')
  dangerous() {
    return 'boom';
  }
}

describe('a flow', () => {
  const database = useTestDatabase();

  it('uses only the tasks, workflows and queues that it is allowed to', async () => {
    const allow = { tasks: ['harmless'], workflows: [], queues: ['default'] };
    const attempt = (call: string) => `try { return await ${call} } catch (error) { return error.message }`;
    const flows = [
      { name: 'good', source: attempt('Task.run("harmless")'), allow },
      { name: 'bad-task', source: attempt('Task.run(["danger", "ous"].join(""))'), allow },
      { name: 'bad-child', source: attempt('Workflow.run("good")'), allow },
      { name: 'bad-queue', source: attempt('Task.run("harmless", null, { queue: "vip" })'), allow },
    ];
    const { executions, close } = await startApp(database, { flows }, { providers: [Tasks] });
    const run = async (name: string) => executions.result((await executions.start(name)).id, { timeout: '10s' });
    expect(await run('good')).toBe('done');
    for (const name of ['bad-task', 'bad-child', 'bad-queue']) expect(await run(name)).toMatch(/not allowed|may not/);
    await close();
  });

  it('may have a large state outside its row, and can still be inspected', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rhythm-snapshots-'));
    const flows = [{ name: 'large', source: 'const big = "x".repeat(20000)\nawait Signal.when("go")\nreturn big.length' }];
    const { executions, signals, close } = await startApp(database, { flows, snapshotStore: new FileSnapshotStore(folder, 4_096) });
    const { id } = await executions.start('large');
    await eventually(async () => expect((await executions.inspect(id)).branches[0]?.waitsFor).toBe('signal "go"'));
    expect(readdirSync(folder)).toHaveLength(1);
    await signals.send(id, 'go');
    expect(await executions.result(id, { timeout: '10s' })).toBe(20_000);
    await eventually(() => expect(readdirSync(folder)).toEqual([]));
    await close();
    rmSync(folder, { recursive: true });
  });

  it('fails with a clear error when its state is too large or it runs too long between two awaits', async () => {
    const flows = [
      { name: 'hoarder', source: 'const big = "x".repeat(20000)\nawait Signal.when("go")\nreturn big.length' },
      { name: 'spinner', source: 'while (true) {}' },
    ];
    const { executions, close } = await startApp(database, {
      flows,
      limits: { snapshotBytes: 8_192, snapshotWarnBytes: 4_096, fuelPerTurn: 100_000 },
    });
    for (const [name, code] of [
      ['hoarder', /SNAPSHOT/],
      ['spinner', /FUEL/],
    ] as const) {
      const { id } = await executions.start(name);
      await expect(executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ error: { code: expect.stringMatching(code) } });
    }
    await close();
  });
});
