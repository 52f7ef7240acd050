// A turn that ends in a limit commits nothing but its error, wherever its worker dies, and however often it is retried.

import { describe, expect, it } from '@jest/globals';
import { readTree, retryExecution, sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { spawnEngine } from '../faults/spawn-engine.js';
import { useWorkers, waitFor } from '../support/index.js';

const FLOOD = { name: 'LimitError', code: 'FLOW_LIMIT_PENDING_EFFECTS' };
const RETRIES = 3;

describe('a flow that starts a million tasks', () => {
  const kit = useHarness();
  useWorkers();

  it.each(['before', 'after'])(
    'stores none of them, even if its worker is killed %s the commit, and neither does a retry',
    async (moment) => {
      const flows = { f: `const name = await Signal.when('go'); for (let i = 0; i < 1e6; i++) Task.run('one', name);` };
      const harness = await kit.open({ flows, tasks: { one: () => 1 } });
      const id = await harness.start('f');
      await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"me"' }]);
      const victim = spawnEngine(kit, 'victim', { flows, killedAt: `rhythm_commit ${moment} 1` });
      await victim.line(/killed/);
      expect(await victim.exited).toMatchObject({ signal: 'SIGKILL' });
      expect(await harness.status(id)).toBe(moment === 'before' ? 'running' : 'failed');

      await harness.engine();
      const failures = () => harness.query(`SELECT seq FROM rhythm.history WHERE execution_id = $1 AND kind = 'failed'`, [id]);
      for (let retry = 0; ; retry++) {
        await waitFor(`failure ${retry}`, async () => (await failures()).length === retry && (await harness.status(id)) === 'failed');
        expect(await harness.ended(id)).toMatchObject({ error: FLOOD });
        const [state] = await harness.query(`SELECT snapshot, calls, turns FROM rhythm.executions WHERE id = $1`, [id]);
        expect(state).toEqual({ snapshot: null, calls: 0, turns: null });
        expect(await readTree(harness.store.db, id)).toHaveLength(1);
        expect(await harness.count('signals')).toBe(1);
        expect(await harness.count('work_queue')).toBe(0);
        if (retry === RETRIES) return;
        await harness.store.db.transaction((tx) => retryExecution(tx, id));
        harness.store.hints.hint('work', 'default');
      }
    },
  );
});
