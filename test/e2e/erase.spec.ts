// What is left of a removed run, and what is not left of an erased one.

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { type SnapshotStore, Task } from '../../src/index.js';
import { useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const SECRET = 'ann@example.com';

@Injectable()
class Tasks {
  @Task('tell')
  tell(input: unknown) {
    return { told: input };
  }

  @Task('refuse', { retry: { maxAttempts: 2, delay: 1 } })
  refuse(input: unknown) {
    throw Object.assign(new Error(`refused ${JSON.stringify(input)}`), { data: input });
  }
}

const FLOWS = [
  {
    name: 'subject',
    source: `
      console.log('for', Inputs.mail);
      await Task.run('tell', Inputs);
      await Workflow.run('helper', Inputs, { id: Inputs.helper });
      try { await Task.run('refuse', Inputs); } catch {}
      const said = await Signal.when('say');
      if (said.fail) throw new Error(said.mail);
      return said;`,
  },
  { name: 'helper', source: `await Task.run('tell', Inputs); return Inputs;` },
  { name: 'waits', source: `await Signal.when('never');` },
];

const states = new Map<string, string>();
const snapshotStore: SnapshotStore = {
  thresholdBytes: 1,
  put: async (name, text) => {
    states.set(name, text);
    return name;
  },
  get: async (name) => states.get(name),
  remove: async (name) => void states.delete(name),
};

describe('a removed run', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS, snapshotStore, history: { snapshots: 2 } }, { providers: [Tasks] });
  });
  beforeEach(() => states.clear());

  const rows = async (text: string) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query(text)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  const tables = async () =>
    (await rows(`SELECT tablename AS name FROM pg_tables WHERE schemaname = '${database.schema}' AND tablename NOT LIKE 'workflow_%'`)).map(
      ({ name }) => name as string,
    );
  /** The tables in which a text is found, and the states outside the database. */
  const found = async (text: string) => {
    const places: string[] = [];
    for (const name of await tables()) {
      const hits = await rows(`SELECT 1 FROM "${database.schema}"."${name}" t WHERE t::text LIKE '%${text}%'`);
      if (hits.length > 0) places.push(name);
    }
    return [...places.sort(), ...([...states.values()].some((state) => state.includes(text)) ? ['states'] : [])];
  };
  const subject = async (id: string, fail: boolean, tag = 'ann') => {
    await app.executions.start('subject', { mail: SECRET, helper: `helper-of-${id}` }, { id, tags: [tag] });
    await app.signals.send(id, 'say', { mail: SECRET, fail });
    await app.executions.result(id).catch(() => undefined);
  };

  it('is found by a start of the same id or key, which creates nothing; its result has expired; another input is a conflict', async () => {
    await app.executions.start('helper', 1, { id: 'named' });
    await app.executions.start('tell', 1, { idempotencyKey: 'k' });
    await app.executions.result('named');
    await app.executions.result('key:tell:k');
    await app.executions.remove('named');
    await app.executions.remove('key:tell:k');
    expect(await app.executions.start('helper', 1, { id: 'named' })).toEqual({ id: 'named', created: false });
    expect(
      await app.executions.startMany([
        { name: 'tell', input: 1, options: { idempotencyKey: 'k' } },
        { name: 'tell', input: 2 },
      ]),
    ).toEqual([
      { id: 'key:tell:k', created: false },
      { id: expect.any(String), created: true },
    ]);
    await expect(app.executions.start('helper', 2, { id: 'named' })).rejects.toMatchObject({ code: 'RHYTHM_CONFLICT' });
    await expect(app.executions.result('named')).rejects.toMatchObject({ code: 'RHYTHM_RESULT_EXPIRED', reason: 'removed' });
    await expect(app.executions.result('named:1')).rejects.toMatchObject({ code: 'RHYTHM_RESULT_EXPIRED' });
    await expect(app.executions.get('named')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    // One without an id of its own leaves nothing.
    const { id } = await app.executions.start('tell', 3);
    await app.executions.result(id);
    await app.executions.remove(id);
    await expect(app.executions.result(id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it.each([
    ['completed', false],
    ['failed', true],
  ])(
    'that was erased when it had %s leaves nothing of its subject, in the database or outside, and its id may be used again',
    async (_, fail) => {
      const id = `subject-${fail}`;
      await subject(id, fail);
      expect(await found(SECRET)).toEqual(expect.arrayContaining(['executions', 'history', 'steps', 'states']));
      const erased = await app.executions.erase(id);
      expect(erased).toMatchObject({ snapshotsLeft: 0, tombstones: 0 });
      expect(erased.executions).toBeGreaterThan(3);
      expect(await found(SECRET)).toEqual([]);
      expect(await found(id)).toEqual([]);
      expect(await app.executions.start('tell', 1, { id })).toEqual({ id, created: true });
      await app.executions.result(id);
      await app.executions.erase(id);
    },
  );

  it('is erased later as well: its tombstone, those of what it called, and signals that came too early', async () => {
    await subject('gone', false);
    await app.executions.remove('gone');
    await app.executions.remove('helper-of-gone');
    expect(await found('gone')).toEqual(['tombstones']);
    expect(await app.executions.erase('gone')).toEqual({ executions: 0, tombstones: 2, snapshots: 0, snapshotsLeft: 0 });
    await app.signals.send('early', 'say', { mail: SECRET });
    await app.executions.erase('early');
    expect(await found(SECRET)).toEqual([]);
    await expect(app.executions.erase('gone')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it('is erased by tag with all others of the tag; nothing is erased while one of them has not ended', async () => {
    await subject('one', false, 'bob');
    await subject('two', true, 'bob');
    await subject('other', false, 'eve');
    await app.executions.remove('one');
    await app.executions.start('waits', undefined, { id: 'living', tags: ['bob'] });
    await expect(app.executions.erase({ tag: 'bob' })).rejects.toMatchObject({ code: 'RHYTHM_STATE', executionId: 'living' });
    expect((await app.executions.get('two')).status).toBe('failed');
    await app.executions.cancel('living');
    await app.executions.result('living').catch(() => undefined);
    expect(await app.executions.erase({ tag: 'bob' })).toMatchObject({ tombstones: 1 });
    for (const id of ['one', 'two', 'living', 'helper-of-one', 'helper-of-two']) expect(await found(id)).toEqual([]);
    expect((await app.executions.get('other')).status).toBe('completed');
    expect(await app.executions.erase({ tag: 'bob' })).toMatchObject({ executions: 0, tombstones: 0 });
  });

  it('is not erased in part: a child is refused, with the id of its caller', async () => {
    await subject('whole', false);
    const helper = (await app.executions.get('helper-of-whole')).id;
    for (const id of ['whole:1', helper])
      await expect(app.executions.erase(id)).rejects.toMatchObject({ code: 'RHYTHM_STATE', parentId: 'whole' });
    await expect(app.executions.erase({} as never)).rejects.toMatchObject({ code: 'RHYTHM_NAME_INVALID' });
    await expect(app.executions.erase({ tag: 'a', id: 'b' } as never)).rejects.toMatchObject({ code: 'RHYTHM_OPTION_UNKNOWN' });
  });
});
