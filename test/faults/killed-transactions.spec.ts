// A worker process is killed inside the transaction of a task: nothing of it stays, and the retry takes effect once.

import { describe, expect, it } from '@jest/globals';
import { readHistory } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { useWorkers, waitFor } from '../support/index.js';
import { spawnEngine } from './spawn-engine.js';

const FLOW = `let how = await Task.run('pay'); return [how, await Task.run('one')];`;

describe('a transactional task whose process is killed', () => {
  const kit = useHarness();
  useWorkers();
  const spawn = (name: string, dies?: string) => spawnEngine(kit, name, { flows: { order: FLOW }, app: true, dies });
  // Before its result: after its own writes. Before its commit: after our fenced result and the wake as well.
  it.each(['before its result', 'before its commit'])(
    '%s leaves nothing, and the retry takes effect exactly once',
    async (moment) => {
      const harness = await kit.open({ flows: { order: FLOW } });
      await harness.query('DROP TABLE IF EXISTS paid');
      await harness.query('CREATE TABLE paid (id text)');
      const paid = () => harness.query<{ id: string }>('SELECT id FROM paid');
      const doomed = spawn('doomed', moment);
      await doomed.line('ready');
      const id = await harness.start('order');
      expect(await doomed.exited).toEqual({ code: null, signal: 'SIGKILL' });
      expect(doomed.output).toContain(`dies ${moment} ${id}:1`);
      await waitFor('its transaction to be rolled back', async () => {
        const open = await harness.query(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'shop' AND datname = current_database()`);
        return open.length === 0;
      });
      expect(await paid()).toEqual([]);
      expect(await harness.count('inbox')).toBe(0);
      expect(await harness.count('executions', 'finished_at IS NOT NULL')).toBe(0);
      expect(await harness.count('claims')).toBe(1);

      const second = spawn('second');
      expect(await harness.ended(id, 20_000)).toMatchObject({ status: 'completed', value: ['paid', 1] });
      expect(await paid()).toEqual([{ id: `${id}:1` }]);
      expect(await harness.count('execution_status')).toBe(3);
      expect((await readHistory(harness.store.db, `${id}:1`)).map((entry) => entry.kind)).toContain('recovered');
      expect((await second.kill('SIGKILL')).signal).toBe('SIGKILL');
    },
    60_000,
  );
});
