// The test kit: a database per file, waiting with a deadline, processes that can be killed and frozen.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, eventually, serverUrl, spawnWorker, useTestDatabase, useWorkers, waitFor } from './index.js';

const database = useTestDatabase();
useWorkers();

describe('a database per spec file', () => {
  it('exists and is separate from others', async () => {
    expect(await ask(database.url, 'select current_database()')).toMatch(/^rhythm_test_/);
    const other = await createTestDatabase();
    expect(other.url).not.toBe(database.url);
    await other.drop();
    await expect(ask(other.url, 'select 1')).rejects.toThrow(/does not exist/);
  });

  it('is a schema where the user may not create databases', async () => {
    const role = `limited_${randomBytes(4).toString('hex')}`;
    await ask(serverUrl(), `create role ${role} login password 'limited'`);
    await ask(database.url, `grant create on database ${new URL(database.url).pathname.slice(1)} to ${role}`);
    const limited = new URL(database.url);
    limited.username = role;
    limited.password = 'limited';
    const server = serverUrl();
    process.env.RHYTHM_TEST_SERVER = limited.href;
    try {
      const created = await createTestDatabase();
      expect(created).toMatchObject({ url: limited.href, schema: expect.stringMatching(/^rhythm_test_/) });
      expect(await ask(database.url, `select count(*)::int from pg_namespace where nspname = '${created.schema}'`)).toBe(1);
      await created.drop();
      expect(await ask(database.url, `select count(*)::int from pg_namespace where nspname = '${created.schema}'`)).toBe(0);
    } finally {
      process.env.RHYTHM_TEST_SERVER = server;
      await ask(database.url, `drop owned by ${role}`);
      await ask(serverUrl(), `drop role ${role}`);
    }
  });
});

describe('waiting', () => {
  it('returns what the condition returned', async () => {
    let calls = 0;
    expect(await waitFor('the third call', () => (++calls === 3 ? 'three' : null))).toBe('three');
  });

  it('names what it waited for and the last outcome of the condition', async () => {
    await expect(waitFor('a number', () => 0, { timeoutMs: 30 })).rejects.toThrow(
      /Waited 30 ms for a number. The condition last returned 0/,
    );
    await expect(
      waitFor(
        'a number',
        () => {
          throw new Error('none yet');
        },
        { timeoutMs: 30 },
      ),
    ).rejects.toThrow(/The condition last threw .*none yet/s);
  });

  it('throws the last failed assertion at the deadline', async () => {
    await expect(eventually(() => expect(1).toBe(2), { timeoutMs: 30 })).rejects.toThrow(/Expected: .*2/);
  });
});

describe('a worker process', () => {
  it('runs TypeScript with its arguments and environment, and can be killed', async () => {
    const worker = spawnWorker('test/support/fixtures/counting-worker.ts', { args: ['seven'], env: { COLOUR: 'green' } });
    expect((await worker.line(/up (.*)/))[1]).toBe('Named green seven');
    expect(await worker.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('does nothing while it is frozen and goes on when thawed', async () => {
    const worker = spawnWorker('test/support/fixtures/counting-worker.ts');
    await worker.line('tick 1');
    worker.freeze();
    await waitFor('the process to be stopped', () => / T /.test(readFileSync(`/proc/${worker.pid}/stat`, 'utf8')));
    const frozenAt = worker.output.length;
    expect(worker.output.length).toBe(frozenAt);
    worker.thaw();
    await waitFor('more ticks', () => worker.output.length > frozenAt);
  });

  it('fails early when the process ends without the awaited line', async () => {
    const worker = spawnWorker('test/support/fixtures/no-such-file.ts');
    await expect(worker.line('never')).rejects.toThrow(/ended without printing/);
  });
});

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return Object.values((rows[0] as object) ?? {})[0];
  } finally {
    await client.end();
  }
}
