// A connection that a firewall between us and the server has dropped, without a notice to either side.

import { describe, expect, it } from '@jest/globals';
import { newId, Store } from '../../libs/store/index.js';
import { StartBatcher } from '../../src/execution/start-batcher.js';
import { useTestDatabase } from '../support/index.js';
import { Wire } from './proxy.js';

const IDLE_MS = 20;

describe('a start after a quiet time', () => {
  const database = useTestDatabase();

  it('does not trust a connection that was idle for longer than database.idleTimeout', async () => {
    const wire = await Wire.to(database.url);
    const store = await Store.open({ url: wire.url, schema: database.schema, idleTimeoutMs: IDLE_MS, replyTimeoutMs: 1_000 });
    try {
      const starts = new StartBatcher(store.starts);
      const start = () => starts.start({ id: newId(), fresh: true, type: 'task', targetName: 'noop', queue: 'default' });
      await start();
      await new Promise((resolve) => setTimeout(resolve, 2 * IDLE_MS));
      wire.silence();
      expect(await start()).toMatchObject({ outcome: 'created' });
    } finally {
      await store.close();
      await wire.close();
    }
  });
});
