// `rhythm erase`: asks first, refuses what has not ended, and erases by id and by tag.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { startApp, type TestApp } from '../e2e/start-app.js';
import { useTestDatabase } from '../support/index.js';
import { callRhythm as cli } from './call-cli.js';

describe('rhythm erase', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    Object.assign(process.env, { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema });
    const flows = [
      { name: 'ends', source: 'return 1' },
      { name: 'waits', source: 'await Signal.when("never")' },
    ];
    app = await startApp(database, { flows });
  });

  it('erases by id and by tag after it was confirmed, and nothing while a run has not ended', async () => {
    for (const id of ['one', 'two']) {
      await app.executions.start('ends', undefined, { id, tags: ['ann'] });
      await app.executions.result(id);
    }
    await app.executions.start('waits', undefined, { id: 'living' });
    expect(await cli(['erase', 'one'])).toMatchObject({ code: expect.any(Number) });
    expect((await app.executions.get('one')).status).toBe('completed');
    expect(JSON.parse((await cli(['erase', 'one', '--yes', '--json'])).out)).toMatchObject({
      ok: true,
      data: { executions: 1, tombstones: 0 },
    });
    expect(JSON.parse((await cli(['erase', '--tag', 'ann', '--yes', '--json'])).out)).toMatchObject({ ok: true, data: { executions: 1 } });
    expect(await cli(['erase', 'living', '--yes'])).toMatchObject({ code: 1, err: expect.stringContaining('Cancel it') });
    expect(await cli(['erase', 'one', '--yes'])).toMatchObject({ code: 1 });
    for (const args of [['erase'], ['erase', 'one', '--tag', 'ann']]) expect((await cli(args)).code).toBe(2);
  });
});
