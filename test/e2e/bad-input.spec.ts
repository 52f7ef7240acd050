// Input that is wrong in unusual ways gets an error with a code that says where and what to do, and never one of the driver.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const database = useTestDatabase();
let app: TestApp;
beforeAll(async () => {
  app = await startApp(database, {
    flows: [{ name: 'waits', source: "return await Signal.when('go')" }],
    database: { maxConnections: 10, acquireTimeout: '1s' } as never,
  });
  await app.executions.startMany(Array.from({ length: 3 }, () => ({ name: 'waits' })));
});

const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const refusal = (code: string, path: string, message: RegExp) => ({ code, path, message: expect.stringMatching(message) });

describe('list', () => {
  it.each([
    ['no JSON', 'forged'],
    ['no array', Buffer.from('null').toString('base64url')],
    ['a time that is none', cursorOf('tomorrow', 0, 'a')],
    ['a time of the database that is none', cursorOf('infinity', 0, 'a')],
    ['a month that is none', cursorOf('2026-13-01T00:00:00.000000Z', 0, 'a')],
    ['SQL', cursorOf("2026-01-01'; drop table x; --", 0, 'a')],
    ['an id with NUL', cursorOf('2026-01-01T00:00:00.000000Z', 0, 'a\0')],
    ['an id of a megabyte', cursorOf('2026-01-01T00:00:00.000000Z', 0, 'a'.repeat(5_000))],
    ['a call that is none', cursorOf('2026-01-01T00:00:00.000000Z', 1e300, 'a')],
  ])('refuses a forged cursor: %s', async (_, cursor) => {
    await expect(app.executions.list({ cursor })).rejects.toMatchObject(
      refusal('RHYTHM_OPTION_INVALID', 'options.cursor', /The cursor is not one that list\(\) returned/),
    );
  });

  it('takes the cursors that it made', async () => {
    const first = await app.executions.list({ limit: 2 });
    const second = await app.executions.list({ limit: 2, cursor: first.next });
    expect([first.items.length, second.items.length]).toEqual([2, 1]);
  });

  it('reads a million statuses as the few that they are, and refuses what is no array of them', async () => {
    const status = Array.from({ length: 1_000_000 }, (_, n) => (['suspended', 'pending', 'running'] as const)[n % 3]!);
    expect((await app.executions.list({ status })).items).toHaveLength(3);
    await expect(app.executions.list({ status: { suspended: true } as never })).rejects.toMatchObject(
      refusal('RHYTHM_OPTION_INVALID', 'options.status', /is an object, not a status or an array of statuses: pending, /),
    );
  });
});

describe('what is not an object', () => {
  it.each([null, undefined])('is refused in startMany: %p', async (request) => {
    await expect(app.executions.startMany([{ name: 'waits' }, request as never])).rejects.toMatchObject(
      refusal('RHYTHM_OPTION_INVALID', 'requests[1]', /requests\[1\] is (null|undefined), not \{ name, input, options \}/),
    );
  });

  it.each([null, undefined, 'declined', 5])('is refused by completions.fail: %p', async (failure) => {
    await expect(app.completions.fail('token', failure as never)).rejects.toMatchObject(
      refusal('RHYTHM_OPTION_INVALID', 'failure', /^failure is .*, not \{ message, name\?, code\?, data\? \}/),
    );
  });
});

describe('a payload that cannot be read', () => {
  const throwing = (message: string) =>
    Object.defineProperty({}, 'b', {
      enumerable: true,
      get: () => {
        throw new Error(message);
      },
    });

  it.each<[string, () => unknown, string, RegExp]>([
    ['a getter', () => ({ a: [throwing('gone')] }), 'input.a[0].b', /input\.a\[0\]\.b cannot be read: gone\./],
    [
      'a toJSON()',
      () => ({
        a: {
          toJSON: () => {
            throw new Error('no');
          },
        },
      }),
      'input.a',
      /input\.a cannot be read: no\./,
    ],
    [
      'a Proxy',
      () => ({
        a: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('proxied');
            },
          },
        ),
      }),
      'input.a',
      /input\.a cannot be read: proxied\./,
    ],
  ])('is refused with its place: %s', async (_, make, path, message) => {
    await expect(app.executions.start('waits', make())).rejects.toMatchObject(refusal('RHYTHM_PAYLOAD_INVALID', path, message));
  });
});

describe('more calls than connections', () => {
  let blocker: pg.Client;
  afterAll(() => blocker.end());

  it('get an error that says so when none becomes free in time, and nothing is sent', async () => {
    const { items } = await app.executions.list();
    const id = items[0]!.id;
    blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query(`begin; lock table ${database.schema}.executions in access exclusive mode`);
    const sends = Array.from({ length: 1_000 }, (_, n) =>
      app.signals.send(id, 'go', n).then(
        () => 'done',
        (error: { code?: string }) => error.code,
      ),
    );
    const busy = await Promise.race([...sends, new Promise((resolve) => setTimeout(resolve, 20_000, 'nothing failed').unref())]);
    expect(busy).toBe('RHYTHM_POOL_BUSY');
    await blocker.query('rollback');
    expect(new Set(await Promise.all(sends))).toEqual(new Set(['done', 'RHYTHM_POOL_BUSY']));
  }, 60_000);
});
