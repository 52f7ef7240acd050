// The connection that listens for hints is lost, or falls silent, at the worst moments.

import { afterEach, describe, expect, it } from '@jest/globals';
import { Store } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { spawnWorker, useWorkers, waitFor } from '../support/index.js';
import { Wire } from './proxy.js';

describe('a lost LISTEN connection', () => {
  const kit = useHarness();
  useWorkers();
  const wires: Wire[] = [];
  const wireTo = async () => {
    const wire = await Wire.to(kit.url);
    wires.push(wire);
    return wire;
  };
  afterEach(async () => {
    for (const wire of wires.splice(0)) await wire.close();
  });

  it('does not end the process whose first result() meets it, and the result still comes', async () => {
    let finish: ((value: string) => void) | undefined;
    const task = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const harness = await kit.open({ tasks: { task } });
    await harness.engine();
    const id = await harness.start('task');
    const wire = await wireTo();
    const waiter = spawnWorker('test/faults/waiter-main.ts', {
      env: { WAITER_URL: wire.url, WAITER_SCHEMA: kit.schema, WAITER_ID: id },
    });
    await waiter.line('ready');
    const cuts = wire.cuts;
    wire.at('LISTEN "rhythm_ended_', 'cut');
    process.kill(waiter.pid, 'SIGUSR2');
    await waiter.line('waiting');
    await waitFor('the connection to be cut', () => wire.cuts > cuts);
    const listens = `datname = current_database() AND query LIKE 'LISTEN "rhythm_ended_%'`;
    await waitFor(
      'it to listen again, or to end',
      async () => waiter.output.includes('Error') || (await harness.query(`SELECT 1 FROM pg_stat_activity WHERE ${listens}`)).length > 0,
    );
    await waitFor('the task to run', () => finish !== undefined);
    finish?.('done');
    await waiter.line('result "done"');
    expect(await waiter.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  }, 60_000);

  it('does not keep a worker from its heartbeats and its work when it is silent from the start', async () => {
    const harness = await kit.open({ tasks: { one: () => 1 } });
    const wire = await wireTo();
    const store = await Store.open({ url: wire.url, schema: kit.schema });
    const { cuts } = wire;
    wire.at('LISTEN "rhythm_hints_', 'silence');
    const starting = harness.engine({ heartbeatMs: 100 }, store);
    try {
      await waitFor('LISTEN to fall silent', () => wire.cuts > cuts);
      await waitFor('three heartbeats', async () => (await harness.count('worker_heartbeats', 'beats >= 3')) === 1);
      expect(store.hints.listening).toBe(false);
      expect(await harness.ended(await harness.start('one'))).toMatchObject({ status: 'completed', value: 1 });
    } finally {
      await (await starting).stop();
      await store.close();
    }
  }, 120_000);
});
