// Signals that no wait takes: how many a run may have, and what the next one costs.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

describe('signals that no wait takes', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    const flows = [
      { name: 'waits', source: 'await Signal.when("end"); return "ended"' },
      { name: 'takes', source: 'let n = 0; while (n < 8) { await Signal.when("go"); n++ } return n' },
    ];
    app = await startApp(database, { flows, limits: { signalsPerRun: 3 } });
  });

  it('are refused beyond the limit, with an error that names the run; a duplicate is a duplicate', async () => {
    await app.executions.start('waits', undefined, { id: 'r' });
    for (const key of ['a', 'b', 'c']) expect(await app.signals.send('r', 'noise', 1, { key })).toMatchObject({ accepted: true });
    await expect(app.signals.send('r', 'noise', 2)).rejects.toMatchObject({ code: 'RHYTHM_TOO_MANY_SIGNALS', executionId: 'r', limit: 3 });
    await expect(app.signals.send('r', 'noise', 2, { key: 'd' })).rejects.toMatchObject({ code: 'RHYTHM_TOO_MANY_SIGNALS' });
    expect(await app.signals.send('r', 'noise', 1, { key: 'b' })).toMatchObject({ accepted: false, known: true });
    // Before a run is started as well.
    for (let n = 0; n < 3; n++) await app.signals.send('later', 'noise');
    await expect(app.signals.send('later', 'noise')).rejects.toMatchObject({ code: 'RHYTHM_TOO_MANY_SIGNALS' });
  });

  it('are not those that were taken: a run may take any number, with keys or without', async () => {
    const { id } = await app.executions.start('takes');
    for (let n = 0; n < 8; n++) {
      for (;;) {
        const sent = await app.signals.send(id, 'go', n, { key: `k${n}` }).catch((error: { code: string }) => error.code);
        if (sent !== 'RHYTHM_TOO_MANY_SIGNALS') break;
      }
    }
    expect(await app.executions.result(id, { timeout: '20s' })).toBe(8);
  });
});
