// A failover to a replica that lacks the last commits: a worker may have them in memory, and the database does not.

import { afterEach, describe, expect, it } from '@jest/globals';
import { sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { endWorkers, useWorkers, waitFor } from '../support/index.js';
import { spawnEngine } from './spawn-engine.js';
import { watchLinks } from './watched-links.js';

const TABLES = ['executions', 'signals', 'inbox', 'work_queue', 'scheduled_queue', 'resume_groups', 'claims', 'waiting'];

describe('after an asynchronous failover', () => {
  const kit = useHarness();
  useWorkers();
  afterEach(() => endWorkers());
  const spawn = (name: string, flow: string) =>
    // Nobody is declared dead here: the frozen worker is to go on with what it has in memory.
    spawnEngine(kit, name, { flows: { f: flow }, options: { heartbeatMs: 100, deadAfterMs: 600_000 } });
  const replicate = async (harness: Harness) => {
    await harness.query('CREATE SCHEMA replica');
    for (const table of TABLES) await harness.query(`CREATE TABLE replica.${table} AS SELECT * FROM rhythm.${table}`);
  };
  const failOver = async (harness: Harness) => {
    for (const table of TABLES) {
      await harness.query(`TRUNCATE rhythm.${table}`);
      await harness.query(`INSERT INTO rhythm.${table} SELECT * FROM replica.${table}`);
    }
    await harness.query('DROP SCHEMA replica CASCADE');
  };
  const suspended = (harness: Harness, id: string) =>
    waitFor('the run to be at rest', async () => (await harness.status(id)) === 'suspended' && (await harness.count('claims')) === 0);
  const send = (harness: Harness, executionId: string, name: string) =>
    sendSignals(harness.store.db, [{ executionId, name: 'next', payload: JSON.stringify(name) }]);

  it('a run in memory is not continued: the state that another worker has stored since is', async () => {
    const flow = `const seen = []; while (seen.length < 2) seen.push(await Signal.when('next')); return seen;`;
    const harness = await kit.open({ flows: { f: flow } });
    const first = spawn('first', flow);
    await first.line('ready');
    const id = await harness.start('f');
    await suspended(harness, id);
    await replicate(harness);
    await send(harness, id, 'lost');
    await waitFor('the signal to be taken', async () => (await harness.count('signals')) === 0);
    await suspended(harness, id);
    first.freeze();
    await failOver(harness);
    const second = spawn('second', flow);
    await second.line('ready');
    await send(harness, id, 'a');
    await waitFor('the signal to be taken', async () => (await harness.count('signals')) === 0);
    await suspended(harness, id);
    await second.kill();
    first.thaw();
    await send(harness, id, 'b');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: ['a', 'b'] });
  }, 60_000);

  it('no run stays in memory: a worker drops them when another server takes a heartbeat', async () => {
    const harness = await kit.open({ flows: { f: `while (await Signal.when('next') !== 'end') {}` } });
    const loads: string[] = [];
    let server: string | undefined;
    let beats = 0;
    const store = watchLinks(harness.store, async ({ name }, values, send) => {
      if (name === 'rhythm_load_contexts') loads.push(...(values[0] as string[]));
      const rows = await send();
      if (name !== 'rhythm_write_heartbeat') return rows;
      beats++;
      return rows.map((row) => ({ ...(row as object), server: server ?? 'first' }));
    });
    await harness.engine({}, store);
    const id = await harness.start('f');
    const take = async (name: string) => {
      await send(harness, id, name);
      await waitFor('the signal to be taken', async () => (await harness.count('signals')) === 0);
    };
    const beaten = async () => {
      const before = beats;
      await waitFor('another heartbeat', () => beats > before + 1);
    };
    await suspended(harness, id);
    await beaten();
    await take('kept');
    expect(loads).toEqual([id]);
    server = 'second';
    await beaten();
    await take('loaded');
    expect(loads).toEqual([id, id]);
    await take('end');
  }, 60_000);

  it('the result of a task that the database does not have is not taken for that of another with the same id', async () => {
    const flow = `const name = await Signal.when('next'); return await Task.run('hold', name);`;
    const harness = await kit.open({ flows: { f: flow } });
    const first = spawn('first', flow);
    await first.line('ready');
    const id = await harness.start('f');
    await suspended(harness, id);
    await replicate(harness);
    await send(harness, id, 'lost');
    await first.line(`holding ${id}:2`);
    first.freeze();
    await failOver(harness);
    const second = spawn('second', flow);
    await second.line('ready');
    await send(harness, id, 'a');
    await second.line(`holding ${id}:2`);
    // It ends as soon as the process continues, before that can find out that the task is no longer its own.
    process.kill(first.pid, 'SIGUSR2');
    first.thaw();
    await first.line(/lost|aborted/);
    expect(await harness.status(`${id}:2`)).toBe('running');
    process.kill(second.pid, 'SIGUSR2');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'second' });
  }, 60_000);
});
