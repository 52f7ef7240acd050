// `rhythm doctor` detects a transaction pooler in front of the server: a real PgBouncer.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Bouncer, findBouncer } from '../faults/bouncer.js';
import { useTestDatabase } from '../support/index.js';
import { rhythm } from './spawn-cli.js';

const program = findBouncer();

describe('rhythm doctor behind PgBouncer', () => {
  if (!program) {
    it('is not tested on this machine: there is no pgbouncer (install it, e.g. apt-get install pgbouncer, and run this again)', () => {
      console.warn('NOT TESTED: rhythm doctor behind a transaction pooler. Install pgbouncer to run test/cli/pooler.spec.ts.');
    });
    return;
  }
  const database = useTestDatabase();
  let bouncer: Bouncer;
  beforeAll(async () => {
    bouncer = await Bouncer.inFrontOf(database.url, program);
  });
  afterAll(() => bouncer?.close());

  const pooler = async (more: Record<string, string>) => {
    const env = { RHYTHM_DATABASE_URL: bouncer.url, RHYTHM_DATABASE_SCHEMA: database.schema, ...more };
    const { out } = await rhythm(['doctor', '--json'], { env });
    const { data } = JSON.parse(out) as { data: { findings: { check: string; state: string; found: string; advice?: string }[] } };
    return data.findings.find(({ check }) => check === 'pooler');
  };

  it('says what to set, and reports ok once it is set', async () => {
    expect(await pooler({})).toMatchObject({ state: 'broken', advice: expect.stringContaining('database.pooled = true') });
    expect(await pooler({ RHYTHM_DATABASE_POOLED: 'true' })).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('no database.listenUrl'),
    });
    expect(await pooler({ RHYTHM_DATABASE_POOLED: 'true', RHYTHM_DATABASE_LISTEN_URL: database.url })).toMatchObject({ state: 'ok' });
  });
});
