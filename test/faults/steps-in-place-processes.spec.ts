// Real worker processes that freeze or are killed while they run steps in place.

import { describe, expect, it } from '@jest/globals';
import { readHistory } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { useWorkers, waitFor } from '../support/index.js';
import { type EngineProcess, spawnEngine } from './spawn-engine.js';
import { FREE_SLOTS, inPlace, nothingIsLeft, settledOnce } from './steps.js';

describe('steps in place of a process', () => {
  const kit = useHarness();
  useWorkers();
  const spawn = (name: string, engine: EngineProcess) =>
    spawnEngine(kit, name, { ...engine, options: { ...FREE_SLOTS, ...engine.options } });

  it.each(['has no row', 'has a row'])(
    'that freezes: the result is dropped when it wakes, of a step that %s',
    async (row) => {
      const flows = { f: `return [await Task.run('one'), await Task.run('hold')];` };
      const harness = await kit.open({ flows });
      const frozen = spawn('frozen', { flows });
      const [, frozenId] = await frozen.line(/ready (\S+)/);
      const id = await harness.start('f');
      await frozen.line(`holding ${id}:2`);
      const rows = row === 'has a row' ? 1 : 0;
      if (rows > 0) await waitFor('the row', () => harness.count('executions', `id = '${id}:2'`));
      frozen.freeze();
      expect(await harness.count('executions', `id = '${id}:2'`)).toBe(rows);
      expect(await inPlace(harness, id)).toBe(1 - rows);
      const other = spawn('other', { flows, holdMs: 1 });
      const end = await harness.ended(id, 30_000);
      expect(end).toMatchObject({ status: 'completed', value: [1, 'other'], crashes: 0 });
      const [, otherId] = await other.line(/ready (\S+)/);
      const step = await harness.ended(`${id}:2`);
      expect(step).toMatchObject({ status: 'completed', workerId: otherId });
      // Its task ends in the moment in which it wakes, before it can know that it was declared dead.
      process.kill(frozen.pid, 'SIGUSR2');
      frozen.thaw();
      await frozen.line('worker-declared-dead');
      await waitFor('the worker that replaces it', async () => (await harness.count('worker_heartbeats')) === 2);
      expect(await harness.count('worker_heartbeats', `worker_id = '${frozenId}'`)).toBe(0);
      await nothingIsLeft(harness);
      await settledOnce(harness, id, 2);
      expect([await harness.ended(id), await harness.ended(`${id}:2`)]).toEqual([end, step]);
      const kinds = (await readHistory(harness.store.db, id)).map(({ kind }) => kind);
      expect(kinds).not.toContain('recovered');
      expect(kinds.filter((kind) => kind === 'step-recovered')).toHaveLength(1);
      await Promise.all([frozen.kill(), other.kill()]);
    },
    90_000,
  );

  it.each([
    'rhythm_commit_ before 1',
    'rhythm_commit_ after 1',
    'rhythm_commit_ before 2',
    'rhythm_commit_ after 2',
    'rhythm_promote_steps before 1',
    'rhythm_promote_steps after 1',
  ])(
    'that is killed (%s) are run by another, each settled once',
    async (killedAt) => {
      const flows = { f: `let one = await Task.run('one'); return [one, await Task.run('report'), await Task.run('one')];` };
      const harness = await kit.open({ flows });
      const victim = spawn('victim', { flows, killedAt });
      await victim.line('ready');
      const id = await harness.start('f');
      expect((await victim.exited).signal).toBe('SIGKILL');
      expect(victim.output).toContain('killed');
      const other = spawn('other', { flows });
      expect(await harness.ended(id, 30_000)).toMatchObject({ status: 'completed', value: [1, 'other', 1], crashes: 0 });
      await settledOnce(harness, id, 3);
      await nothingIsLeft(harness);
      await other.kill();
    },
    60_000,
  );
});
