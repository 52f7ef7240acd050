// The module in an application: once per name, with features, roles and its own configuration.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { Cron, CronExpression, Interval, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ExecutionService, getRhythmToken, InjectRhythm, RhythmModule, Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { quickOptions, SILENT, startApp } from './start-app.js';

const ECHO = { name: 'echo', source: 'return Inputs' };

describe('the module', () => {
  const database = useTestDatabase();

  async function boot(imports: object[], providers: object[] = []) {
    const module = await Test.createTestingModule({ imports: imports as never, providers: providers as never })
      .setLogger(SILENT)
      .compile();
    return module.init();
  }

  it('is refused twice under one name, before anything is opened', async () => {
    const twice = boot([RhythmModule.forRoot(quickOptions(database)), RhythmModule.forRoot(quickOptions(database, { role: 'api' }))]);
    await expect(twice).rejects.toMatchObject({
      code: 'RHYTHM_DUPLICATE_MODULE',
      message: expect.stringContaining('imported 2 times under the name "default"'),
    });
  });

  it('can be imported twice under two names, each with its own services', async () => {
    @Injectable()
    class Both {
      constructor(
        @InjectRhythm(ExecutionService) readonly usual: ExecutionService,
        @InjectRhythm(ExecutionService, 'reports') readonly reports: ExecutionService,
      ) {}
    }
    const imports = [
      RhythmModule.forRoot(quickOptions(database, { flows: [ECHO] })),
      RhythmModule.forRoot({
        name: 'reports',
        ...quickOptions(database, { database: { schema: 'rhythm_reports' }, flows: [{ name: 'report', source: 'return "report"' }] }),
      }),
    ];
    const app = await boot(imports, [Both]);
    const { usual, reports } = app.get(Both);
    expect(reports).not.toBe(usual);
    expect(app.get(getRhythmToken(ExecutionService, 'reports'))).toBe(reports);
    expect(app.get(getRhythmToken(ExecutionService))).toBe(usual);
    const { id } = await reports.start('report');
    expect(await reports.result(id, { timeout: '10s' })).toBe('report');
    await expect(usual.get(id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    await expect(usual.start('report')).rejects.toMatchObject({ code: 'RHYTHM_UNKNOWN_WORKFLOW' });
    await app.close();
  });

  it('collects the workflows of feature modules and folders', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rhythm-flows-'));
    writeFileSync(join(folder, 'from-a-file.flow'), 'return "file"');
    @Module({ imports: [RhythmModule.forFeature({ flows: [{ name: 'feature', source: 'return await Workflow.run("from-a-file")' }] })] })
    class FeatureModule {}
    const { executions, close } = await startApp(database, { flows: [folder] }, { imports: [FeatureModule] });
    const { id } = await executions.start('feature');
    expect(await executions.result(id, { timeout: '10s' })).toBe('file');
    await close();
    rmSync(folder, { recursive: true });
  });

  it('refuses invalid flows at boot, all of them, with place and advice', async () => {
    const flows = [ECHO, { name: 'bad', source: 'let x = 1\nvar y = 2' }, { name: 'worse', source: 'return (' }];
    const failing = boot([RhythmModule.forRoot(quickOptions(database, { flows }))]);
    await expect(failing).rejects.toMatchObject({
      code: 'RHYTHM_FLOW_INVALID',
      message: expect.stringMatching(/bad\.flow:2:1[\s\S]*worse\.flow:1:/),
    });
  });

  it('refuses two workflows with the same name, and a path that does not exist', async () => {
    await expect(boot([RhythmModule.forRoot(quickOptions(database, { flows: [ECHO, { ...ECHO, source: 'return 2' }] }))])).rejects.toThrow(
      /Two workflows are named "echo"/,
    );
    await expect(boot([RhythmModule.forRoot(quickOptions(database, { flows: ['no/such/folder'] }))])).rejects.toThrow(
      /no\/such\/folder does not exist/,
    );
  });

  it('refuses a flow that calls an unknown task, unless it is listed as external', async () => {
    const flows = [{ name: 'calls', source: 'await Task.run("chrge", 1)' }];
    class Tasks {
      @Task('charge')
      charge() {}
    }
    const failing = boot([RhythmModule.forRoot(quickOptions(database, { flows }))], [Tasks]);
    await expect(failing).rejects.toMatchObject({
      code: 'RHYTHM_UNKNOWN_TASK',
      message: expect.stringMatching(/calls\.flow:1:\d+ calls the task "chrge", which no provider has\. Did you mean "charge"\?/),
    });
    // What is suggested is among what is listed.
    await expect(boot([RhythmModule.forRoot(quickOptions(database, { flows, externalTasks: ['charge'] }))])).rejects.toThrow(
      /Did you mean "charge"\?\nTasks of this process: none\. External tasks: "charge"\. Mark/,
    );
    const app = await boot([RhythmModule.forRoot(quickOptions(database, { flows, externalTasks: ['chrge'] }))], [Tasks]);
    await app.close();
    const any = await boot([RhythmModule.forRoot(quickOptions(database, { flows, externalTasks: '*' }))], [Tasks]);
    expect(await any.get(ExecutionService).start('of-another-app', {}, { type: 'task' })).toMatchObject({ created: true });
    await any.close();
  });

  it('in an API-only process starts what other processes run', async () => {
    class Tasks {
      @Task('shout')
      shout(text: string) {
        return text.toUpperCase();
      }
    }
    const api = await startApp(database, { role: 'api' });
    const { id } = await api.executions.start('shout', 'hi', { type: 'task' });
    await expect(api.executions.start('shout', 'hi')).rejects.toThrow(/pass \{ type: 'task' \}/);
    await expect(api.executions.result(id, { timeout: 400 })).rejects.toMatchObject({ code: 'RHYTHM_RESULT_TIMEOUT' });
    expect((await api.executions.status()).workers).toEqual([]);
    const worker = await startApp(database, { role: 'worker' }, { providers: [Tasks] });
    expect(await api.executions.result(id, { timeout: '10s' })).toBe('HI');
    await worker.close();
    await api.close();
  });

  it('names the database that cannot be reached, without its password', async () => {
    const failing = boot([RhythmModule.forRoot({ database: 'postgres://ann:s3cret@127.0.0.1:1/nowhere' })]);
    await expect(failing).rejects.toMatchObject({
      code: 'RHYTHM_DATABASE_UNREACHABLE',
      message: expect.stringMatching(
        /^Cannot connect to PostgreSQL at postgres:\/\/ann:\*\*\*@127\.0\.0\.1:1\/nowhere: .*Nothing listens there/,
      ),
    });
  });

  it('refuses an old schema when it may not migrate', async () => {
    const failing = boot([RhythmModule.forRoot(quickOptions(database, { autoMigrate: false, database: { schema: 'never_migrated' } }))]);
    await expect(failing).rejects.toMatchObject({ code: 'RHYTHM_SCHEMA_TOO_OLD', message: expect.stringContaining('rhythm migrate') });
  });

  it('refuses unknown options at boot', async () => {
    await expect(boot([RhythmModule.forRoot({ ...quickOptions(database), wroker: {} } as object)])).rejects.toThrow(
      /Unknown setting "wroker" in options. Did you mean "worker"/,
    );
    await expect(boot([RhythmModule.forRoot({ ...quickOptions(database), flowz: [] } as object)])).rejects.toThrow(
      /Unknown setting "flowz" in options. Did you mean "flows"\? Options: flows, externalTasks, .*isGlobal, name\./,
    );
  });

  it('refuses options of the wrong kind with a message', async () => {
    const given = (options: object) => boot([RhythmModule.forRoot({ ...quickOptions(database), ...options })]);
    await expect(given({ flows: 'flows' })).rejects.toThrow('flows is "flows", not an array of folders, files or { name, source }.');
    await expect(given({ externalTasks: { a: 1 } })).rejects.toThrow(
      'externalTasks is an object, not an array of names of tasks, or "*" for any.',
    );
    await expect(given({ externalTasks: 'charge' })).rejects.toThrow('externalTasks is "charge", not an array of names of tasks');
    await expect(given({ externalTasks: [5] })).rejects.toThrow('externalTasks[0] is 5, not a string.');
    await expect(given({ snapshotStore: {} })).rejects.toMatchObject({ code: 'RHYTHM_OPTION_INVALID' });
    const made = (useFactory: () => unknown) => boot([RhythmModule.forRootAsync({ useFactory: useFactory as () => object })]);
    await expect(made(() => undefined)).rejects.toThrow(/forRootAsync\(\) are undefined\. Return an object/);
    await expect(made(() => ({ ...quickOptions(database), name: 'late' }))).rejects.toThrow(/give it next to useFactory/);
    expect(() => RhythmModule.forRoot(null as never)).toThrow('RhythmModule.forRoot() was given null, not an object of options.');
    expect(() => RhythmModule.forRoot({ isGlobal: 'no' as never })).toThrow(/isGlobal is "no", not true or false/);
    expect(() => RhythmModule.forRoot({ name: 5 as never })).toThrow(/name is 5, not a string/);
    expect(() => RhythmModule.forFeature({ flow: [] } as never)).toThrow(/Unknown option "flow" .*Did you mean "flows"/);
    expect(() => RhythmModule.forFeature({} as never)).toThrow(/flows is undefined, not an array/);
  });

  it('refuses a feature that belongs to no Rhythm module', async () => {
    const feature = (name?: string) => RhythmModule.forFeature({ flows: [ECHO], ...(name ? { name } : {}) });
    await expect(boot([feature()])).rejects.toMatchObject({ code: 'RHYTHM_MODULE_MISSING' });
    const misspelt = boot([RhythmModule.forRoot({ ...quickOptions(database), name: 'reports' }), feature('reportz')]);
    await expect(misspelt).rejects.toThrow(/is for the Rhythm module "reportz".*Did you mean "reports"/);
  });

  it('does not touch the cron jobs and intervals of the app: each fires once', async () => {
    const fired = { cron: 0, interval: 0, started: Date.now() };
    @Injectable()
    class Jobs {
      @Cron(CronExpression.EVERY_SECOND)
      cron() {
        fired.cron++;
      }

      @Interval(200)
      interval() {
        fired.interval++;
      }
    }
    const { close } = await startApp(database, {}, { imports: [ScheduleModule.forRoot()], providers: [Jobs] });
    await eventually(() => expect(fired.cron).toBeGreaterThanOrEqual(2));
    await close();
    const seconds = (Date.now() - fired.started) / 1000;
    expect(fired.cron).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
    expect(fired.interval).toBeLessThanOrEqual(seconds * 5 + 1);
  });

  it('runs tasks of request-scoped providers', async () => {
    let made = 0;
    @Injectable()
    class Dependency {
      readonly answer = 42;
    }
    @Injectable({ scope: Scope.REQUEST })
    class PerCall {
      private readonly number = ++made;
      constructor(@Inject(Dependency) private readonly dependency: Dependency) {}

      @Task('per-call')
      run(_input: unknown, ctx: TaskContext) {
        return [this.number, this.dependency.answer, ctx.taskName];
      }
    }
    const flows = [{ name: 'twice', source: 'return [await Task.run("per-call"), await Task.run("per-call")]' }];
    const { executions, close } = await startApp(database, { flows }, { providers: [Dependency, PerCall] });
    const { id } = await executions.start('twice');
    expect(await executions.result(id, { timeout: '10s' })).toEqual([
      [1, 42, 'per-call'],
      [2, 42, 'per-call'],
    ]);
    await close();
  });

  it("does not boot when the app's DataSource makes its tables in Rhythm's schema", async () => {
    const { url, schema } = database;
    const own = TypeOrmModule.forRoot({ type: 'postgres', url, schema });
    await expect(boot([own, RhythmModule.forRoot(quickOptions(database))], [])).rejects.toMatchObject({
      code: 'RHYTHM_DATA_SOURCE_SCHEMA',
      message: expect.stringContaining(`{ schema: 'public' }`),
    });
    const usual = TypeOrmModule.forRoot({ type: 'postgres', url, schema: 'public' });
    await (await boot([usual, RhythmModule.forRoot(quickOptions(database, { role: 'api' }))], [])).close();
  });

  it('needs the app to have a DataSource on the same database for transactional tasks', async () => {
    class Tasks {
      @Task('tx', { transactional: true })
      tx() {}
    }
    await expect(boot([RhythmModule.forRoot(quickOptions(database))], [Tasks])).rejects.toMatchObject({
      code: 'RHYTHM_DATA_SOURCE_MISSING',
      message: expect.stringContaining('Tasks.tx'),
    });
  });
});
