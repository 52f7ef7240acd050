// A timer that nobody fires, and a database that is not where the command looks for it.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startApp } from '../e2e/start-app.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { callRhythm } from './call-cli.js';

const database = useTestDatabase();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-elsewhere-'));
});
afterAll(() => {
  for (const name of ['RHYTHM_DATABASE_URL', 'RHYTHM_DATABASE_SCHEMA', 'RHYTHM_DATABASE_EMBEDDED_DIR']) delete process.env[name];
  rmSync(folder, { recursive: true });
});

describe('rhythm show', () => {
  it('says by how much a timer is overdue', async () => {
    Object.assign(process.env, { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema });
    const app = await startApp(database, { flows: [{ name: 'sleeps', source: "await Timer.sleep('1h')" }] });
    await app.executions.start('sleeps', {}, { id: 't' });
    await eventually(async () => expect((await app.executions.get('t')).status).toBe('suspended'));
    expect((await callRhythm(['show', 't'])).out).toMatch(/timer 1h, until .* \(in (59|60)m\)/);
    await app.close();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`update ${database.schema}.scheduled_queue set due_at = now() - interval '200 seconds'`);
    await client.end();
    expect((await callRhythm(['show', 't'])).out).toMatch(/timer 1h, until .* \(overdue by 3m\)/);
  });
});

describe('a command outside the folder of an app with an embedded database', () => {
  it.each([['list'], ['doctor'], ['start', 'order'], ['status']])('%s makes no server and says where it looked', async (...args) => {
    const home = join(folder, 'postgres');
    process.env.RHYTHM_DATABASE_EMBEDDED_DIR = home;
    expect(await callRhythm([...args, '--database-url', 'embedded'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /There is no embedded database in .*postgres\. Run this in the folder of the app.*\nTo make a new one there: rhythm migrate/,
      ),
    });
    expect(existsSync(home)).toBe(false);
  });
});
