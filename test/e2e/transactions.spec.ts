// Start, signal and cancel in a transaction of the caller: they take effect if and only if it commits.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

@Entity('notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'text' })
  text!: string;
}

let failures = 0;

@Injectable()
class NoteTasks {
  @Task('write-note', { transactional: true, retry: { delay: 1 } })
  async write({ text, failTimes = 0 }: { text: string; failTimes?: number }, ctx: TaskContext) {
    const { id } = await ctx.manager.save(Note, { text });
    if (failures++ < failTimes) throw new Error('after the write');
    return id;
  }
}

const FLOWS = [
  { name: 'echo', source: 'return Inputs' },
  { name: 'waits', source: 'return await Signal.when("go")' },
  { name: 'noting', source: 'const id = await Task.run("write-note", Inputs)\nreturn id > 0' },
];

describe('a transaction of the caller', () => {
  const database = useTestDatabase();
  const other = useTestDatabase();
  let app: TestApp;
  let source: DataSource;
  beforeAll(async () => {
    const typeorm = TypeOrmModule.forRoot({ type: 'postgres', url: database.url, entities: [Note], synchronize: true });
    app = await startApp(database, { flows: FLOWS }, { imports: [typeorm], providers: [NoteTasks] });
    source = app.app.get(DataSource);
  });
  afterAll(() => app?.close());

  it('starts a run together with the rows it writes', async () => {
    const id = await source.transaction(async (manager) => {
      await manager.save(Note, { text: 'other' });
      const started = await app.executions.start('echo', { ok: true }, { manager });
      await expect(app.executions.get(started.id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
      return started.id;
    });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual({ ok: true });
  });

  it('writes its rows once when the same start is made twice at the same time', async () => {
    const place = () =>
      source.transaction(async (manager) => {
        const { id, created } = await app.executions.start('echo', 'twice', { id: 'sent-twice', manager });
        if (created) await manager.insert(Note, { text: 'sent twice' });
        return id;
      });
    expect(await Promise.all([place(), place()])).toEqual(['sent-twice', 'sent-twice']);
    expect(await source.getRepository(Note).countBy({ text: 'sent twice' })).toBe(1);
  });

  it('leaves nothing when it rolls back', async () => {
    const rolledBack = source.transaction(async (manager) => {
      await app.executions.start('echo', 1, { id: 'never', manager });
      await app.executions.startMany([{ name: 'echo', options: { id: 'never-2' } }], { manager });
      await app.signals.send('never-3', 'go', 1, { manager });
      throw new Error('changed my mind');
    });
    await expect(rolledBack).rejects.toThrow('changed my mind');
    for (const id of ['never', 'never-2']) await expect(app.executions.get(id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    const [{ n }] = await source.query(`SELECT count(*)::int AS n FROM "${database.schema}".signals WHERE execution_id = 'never-3'`);
    expect(n).toBe(0);
    const [{ q }] = await source.query(`SELECT count(*)::int AS q FROM "${database.schema}".work_queue WHERE execution_id LIKE 'never%'`);
    expect(q).toBe(0);
  });

  it('sends a signal and cancels when it commits, not before', async () => {
    const { id } = await app.executions.start('waits', undefined, { id: 'waits-1' });
    await app.executions.start('waits', undefined, { id: 'waits-2' });
    await source.transaction(async (manager) => {
      await app.signals.send(id, 'go', 'gone', { manager });
      await app.executions.cancel('waits-2', { manager, reason: 'no need' });
      await expect(app.executions.result(id, { timeout: 100 })).rejects.toMatchObject({ code: 'RHYTHM_RESULT_TIMEOUT' });
    });
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('gone');
    await expect(app.executions.result('waits-2', { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
  });

  it('does not block others while it is open', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    try {
      await app.executions.start('echo', 'mine', { manager: runner.manager });
      const { id } = await app.executions.start('echo', 'other');
      expect(await app.executions.result(id, { timeout: '5s' })).toBe('other');
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  });

  it('blocks a start with the same id, and no other start', async () => {
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    let equalStarts: Promise<unknown> = Promise.resolve();
    try {
      await app.executions.start('echo', 1, { id: 'same', manager: runner.manager });
      equalStarts = Promise.all([app.executions.start('echo', 1, { id: 'same' }), app.executions.start('echo', 1, { id: 'same' })]);
      const { id } = await app.executions.start('echo', 'other');
      expect(await app.executions.result(id, { timeout: '5s' })).toBe('other');
    } finally {
      await runner.commitTransaction();
      await runner.release();
    }
    expect(await equalStarts).toEqual([
      { id: 'same', created: false },
      { id: 'same', created: false },
    ]);
  });

  it('keeps a run that its start returned from being removed before it ends', async () => {
    await app.executions.start('echo', 1, { id: 'given-back' });
    await app.executions.result('given-back', { timeout: '10s' });
    let removing: Promise<void> | undefined;
    await source.transaction(async (manager) => {
      expect(await app.executions.start('echo', 1, { id: 'given-back', manager })).toEqual({ id: 'given-back', created: false });
      removing = app.executions.remove('given-back');
      await eventually(async () => {
        const waiting = await source.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        expect(waiting).toHaveLength(1);
      });
      expect((await app.executions.get('given-back')).status).toBe('completed');
    });
    await removing;
    await expect(app.executions.get('given-back')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it('counts a delay from the call, however long it has been open', async () => {
    await source.transaction(async (manager) => {
      await manager.query(`SELECT pg_sleep_until(now() + interval '300 milliseconds')`);
      const { id } = await app.executions.start('echo', {}, { manager, delay: '1h' });
      const [row] = await manager.query(
        `SELECT due_at >= now() + interval '1 hour 300 milliseconds' AS late FROM "${database.schema}".scheduled_queue WHERE execution_id = $1`,
        [id],
      );
      expect(row).toEqual({ late: true });
    });
  });

  it('must be on the database of Rhythm, even when another database has its tables too', async () => {
    const theirs = await startApp(other, { flows: FLOWS.slice(0, 1) });
    const foreign = source.transaction((manager) => theirs.executions.start('echo', {}, { manager }));
    await expect(foreign).rejects.toMatchObject({ code: 'RHYTHM_FOREIGN_TRANSACTION' });
  });

  it('must be open', async () => {
    await expect(app.executions.start('echo', 1, { manager: source.manager })).rejects.toMatchObject({ code: 'RHYTHM_MANAGER_INVALID' });
    await expect(app.signals.send('x', 'go', 1, { manager: {} as never })).rejects.toMatchObject({ code: 'RHYTHM_MANAGER_INVALID' });
  });

  it('of a task commits its writes, its result and the wake-up together, once', async () => {
    failures = 0;
    const { id } = await app.executions.start('noting', { text: 'exactly once', failTimes: 2 });
    expect(await app.executions.result(id, { timeout: '10s' })).toBe(true);
    expect(await source.getRepository(Note).countBy({ text: 'exactly once' })).toBe(1);
    await eventually(async () => expect((await app.executions.tree(id)).children[0]).toMatchObject({ status: 'completed', attempts: 2 }));
  });
});
