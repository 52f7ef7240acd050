// Programs of a version: a run continues with the program it began with, whatever compiler the worker has.

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { compile, type Program, saveProgram } from '../../libs/flow/index.js';
import { Store, sql, upsertDefinitions } from '../../libs/store/index.js';
import { FlowRegistry } from '../../src/flows/flow.registry.js';
import { Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

@Injectable()
class Tasks {
  @Task('one')
  one(): number {
    return 1;
  }

  @Task('two')
  two(): number {
    return 2;
  }
}

const SOURCE = `const go = await Signal.when("go")
const a = await Task.run("one")
const b = await Task.run("two")
return [go, a, b]`;
// What another compiler could make of it: other slots and instruction pointers, the same meaning.
const OTHER = `const zero = 0
if (zero) await Task.run("never")
const [pad, go] = [zero, await Signal.when("go")]
const a = await Task.run("one")
const b = await Task.run("two")
return [go, a, b + pad]`;
const TIMEOUT = { timeout: '15s' } as const;

/** Applications that are started from here on have what another compiler made of their texts. */
function useOtherCompiler(change: (program: Program) => Program = () => compile(OTHER, { file: 'order.flow' })): void {
  const load = FlowRegistry.prototype.load;
  jest.spyOn(FlowRegistry.prototype, 'load').mockImplementation(function (this: FlowRegistry, ...given) {
    load.apply(this, given);
    for (const flow of this.all()) (flow as { program: Program }).program = change(flow.program);
  });
}

describe('the program of a run', () => {
  const database = useTestDatabase();
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const suspended = (app: Awaited<ReturnType<typeof startApp>>, id: string) =>
    eventually(async () => expect((await app.executions.get(id)).status).toBe('suspended'));

  async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await Store.open({ url: database.url, schema: database.schema, poolSize: 3 });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  it('is the one it began with, on a worker whose compiler makes a different one of the same source', async () => {
    const flows = [{ name: 'order', source: SOURCE }];
    useOtherCompiler();
    const old = await startApp(database, { flows }, { providers: [Tasks] });
    const { id } = await old.executions.start('order');
    await suspended(old, id);
    await old.close();
    jest.restoreAllMocks();

    const young = await startApp(database, { flows }, { providers: [Tasks] });
    expect((await young.executions.inspect(id)).branches[0]?.stack[0]?.line).toBe(3);
    await young.signals.send(id, 'go', 'went');
    expect(await young.executions.result(id, TIMEOUT)).toEqual(['went', 1, 2]);
    await young.close();
  });

  it('is stored by each compiler, so a worker without the flow can continue with either', async () => {
    const flows = [{ name: 'both', source: SOURCE }];
    const young = await startApp(database, { flows }, { providers: [Tasks] });
    const first = await young.executions.start('both');
    await suspended(young, first.id);
    await young.close();
    useOtherCompiler();
    const old = await startApp(database, { flows }, { providers: [Tasks] });
    const second = await old.executions.start('both');
    await suspended(old, second.id);
    await old.close();
    jest.restoreAllMocks();

    const bare = await startApp(database, {}, { providers: [Tasks] });
    for (const { id } of [first, second]) {
      await bare.signals.send(id, 'go', id);
      expect(await bare.executions.result(id, TIMEOUT)).toEqual([id, 1, 2]);
    }
    expect(await bare.definitions.versions('both')).toHaveLength(1);
    await bare.close();
  });

  it('is waited for, with a note, if it is not in the database', async () => {
    const flows = [{ name: 'gone', source: SOURCE }];
    useOtherCompiler();
    const old = await startApp(database, { flows }, { providers: [Tasks] });
    const { id } = await old.executions.start('gone');
    await suspended(old, id);
    await old.close();
    jest.restoreAllMocks();
    await withStore(({ db }) => db.rows(sql('spec_remove_programs', `DELETE FROM rhythm.workflow_programs WHERE name = 'gone'`)));

    const young = await startApp(database, { flows }, { providers: [Tasks] });
    await young.signals.send(id, 'go', 'went');
    await eventually(async () => {
      const { status, note } = await young.executions.get(id);
      expect({ status, note }).toEqual({ status: 'suspended', note: expect.stringMatching(/^Waits for program [0-9a-f]{12} of version/) });
    });
    // Its branches cannot be read without the program; everything else can.
    expect((await young.executions.inspect(id)).text).toMatch(/Waits for program/);
    await young.close();
  });

  it('that is newer than the worker can read waits for another worker', async () => {
    const version = 'f'.repeat(64);
    const program = { ...compile(SOURCE, { file: 'newer.flow' }), version: 999, fingerprint: 'newer' };
    await withStore(({ db }) =>
      upsertDefinitions(db, [
        {
          name: 'newer',
          version,
          source: SOURCE,
          file: 'newer.flow',
          fingerprint: program.fingerprint,
          program: saveProgram(program),
          allow: {},
          isolate: false,
        },
      ]),
    );
    const worker = await startApp(database, {}, { providers: [Tasks] });
    const { id } = await worker.executions.start('newer');
    const waits = async () => {
      const { status, note } = await worker.executions.get(id);
      expect({ status, note }).toEqual({ status: 'pending', note: expect.stringMatching(/^Waits for a worker with a newer release/) });
    };
    await eventually(waits);
    await worker.close();
  });

  it('whose snapshot is newer than the worker can read waits for another worker, paused as it was, and keeps its cancel', async () => {
    const worker = await startApp(database, { flows: [{ name: 'later', source: SOURCE }] }, { providers: [Tasks] });
    const { id } = await worker.executions.start('later');
    await suspended(worker, id);
    await worker.close();
    const change = (from: string, to: string) =>
      withStore(({ db }) =>
        db.rows(sql('spec_change_format', `UPDATE rhythm.executions SET snapshot = regexp_replace(snapshot, $2, $3) WHERE id = $1`), [
          id,
          from,
          to,
        ]),
      );
    await change('^\\[2,', '[999,');

    const again = await startApp(database, { flows: [{ name: 'later', source: SOURCE }] }, { providers: [Tasks] });
    await again.executions.pause(id);
    await again.executions.cancel(id);
    await eventually(async () => {
      const { status, note } = await again.executions.get(id);
      expect({ status, note }).toEqual({ status: 'paused', note: expect.stringMatching(/^Waits for a worker with a newer release/) });
    });
    expect((await again.executions.inspect(id)).text).toMatch(/newer release/);
    // The run can still clean up on a worker that can read it.
    await change('^\\[999,', '[2,');
    await again.signals.send(id, 'wake');
    await expect(again.executions.result(id, TIMEOUT)).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    await again.close();
  });
});
