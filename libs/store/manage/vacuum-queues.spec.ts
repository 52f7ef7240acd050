// The VACUUM of the queue tables: each table rests for a multiple of the time that its last one took.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import type { Runner } from '../connect/statement.js';
import { Store } from '../store.js';
import { type VacuumTimes, vacuumQueues } from './vacuum-queues.js';

describe('the VACUUM of the queue tables', () => {
  const database = useTestDatabase();
  let store: Store;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
  });
  afterAll(() => store.close());

  it('leaves out a table whose last VACUUM took long, until it has rested', async () => {
    const link = store.link();
    const names: string[] = [];
    let now = 0;
    // The VACUUM of the timers takes an hour by the clock that is handed in.
    const own: Runner = {
      rows: async (statement, values) => {
        if (statement.name.startsWith('rhythm_vacuum')) names.push(statement.name.replace('rhythm_vacuum_', ''));
        if (statement.name === 'rhythm_vacuum_scheduled_queue') now += 3_600_000;
        return link.rows(statement, values);
      },
    };
    const times: VacuumTimes = new Map();
    for (let n = 0; n < 3; n++) expect(await vacuumQueues(link, own, times, () => now)).toBe(true);
    expect(names.filter((name) => name === 'scheduled_queue')).toHaveLength(1);
    expect(names.filter((name) => name === 'work_queue')).toHaveLength(3);
    // Another worker, which does not know how long it takes.
    await vacuumQueues(link, own, new Map(), () => now);
    expect(names.filter((name) => name === 'scheduled_queue')).toHaveLength(2);
    await link.close();
  });
});
