// Many timers and many workers: time limits are ended in batches that workers share, and one worker wakes for a timer instead of all.

import { afterEach, describe, expect, it } from '@jest/globals';
import type { EngineOptions } from '../../libs/engine/index.js';
import { insertExecutions, newId, Store, sql } from '../../libs/store/index.js';
import { eventually, waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

describe('many timers', () => {
  const kit = useHarness();
  let stores: Store[] = [];
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
  });

  /** Another engine with a store of its own. Its statements are counted by name, and this is called after each. */
  async function engine(harness: Harness, options: Partial<EngineOptions> = {}, after: (name: string) => Promise<void> = async () => {}) {
    const counts = new Map<string, number>();
    const store = await Store.open({
      url: kit.url,
      schema: kit.schema,
      autoMigrate: false,
      intercept: async (name, run) => {
        const rows = await run();
        counts.set(name, (counts.get(name) ?? 0) + 1);
        await after(name);
        return rows;
      },
    });
    stores.push(store);
    const started = await harness.engine(options, store);
    const count = (name: RegExp) => [...counts].reduce((sum, [key, n]) => sum + (name.test(key) ? n : 0), 0);
    return { engine: started, count, stop: () => started.stop() };
  }

  /** Runs that rest, and a time limit of each that has passed. */
  async function overdue(harness: Harness, n: number): Promise<string[]> {
    const ids = Array.from({ length: n }, () => newId());
    await insertExecutions(
      harness.store.db,
      ids.map((id) => ({ id, type: 'workflow', targetName: 'rests', queue: 'nobody', version: 'v', options: { totalTimeoutMs: 1 } })),
    );
    return ids;
  }
  const failed = (harness: Harness) => harness.count('executions', `status = 'failed'`);

  it('ends time limits in batches, each in one commit', async () => {
    const harness = await kit.open({});
    await overdue(harness, 1_200);
    const one = await engine(harness);
    await waitFor('all to be ended', async () => (await failed(harness)) === 1_200);
    expect(one.count(/^rhythm_commit/)).toBeLessThanOrEqual(8);
    expect(await harness.count('scheduled_queue')).toBe(0);
    await one.stop();
  });

  it('shares them: what one worker is ending, another leaves to it and ends the rest', async () => {
    const harness = await kit.open({});
    await overdue(harness, 700);
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = await engine(harness, {}, async (name) => {
      if (name === 'rhythm_lock_free_overdue') await held;
    });
    await eventually(() => expect(slow.count(/lock_free_overdue/)).toBe(1));
    const fast = await engine(harness);
    await waitFor('the rest to be ended', async () => (await failed(harness)) === 200);
    goOn();
    await waitFor('all to be ended', async () => (await failed(harness)) === 700);
    await Promise.all([slow.stop(), fast.stop()]);
  });

  it('ends all others while somebody keeps one execution locked, and that one afterwards', async () => {
    const harness = await kit.open({});
    const [first] = await overdue(harness, 50);
    await harness.store.db.transaction(async (tx) => {
      await tx.rows(sql('spec_lock', 'SELECT FROM rhythm.executions WHERE id = $1 FOR UPDATE'), [first]);
      await harness.engine();
      await waitFor('the others to be ended', async () => (await failed(harness)) === 49);
    });
    await waitFor('the last to be ended', async () => (await failed(harness)) === 50);
  });

  it('wakes one of several workers when a timer is due', async () => {
    const harness = await kit.open({ tasks: { noop: () => 1 } });
    const options = { pollMs: 60_000, heartbeatMs: 1_000, deadAfterMs: 30_000 };
    const leader = await engine(harness, { ...options, workerName: 'a' });
    const others = [await engine(harness, { ...options, workerName: 'b' }), await engine(harness, { ...options, workerName: 'c' })];
    await waitFor('the first passes', () => others.every(({ count }) => count(/move_due/) > 0));
    await waitFor('hints to arrive', async () => stores.every((store) => store.hints.listening));
    const ids = await Promise.all([200, 300, 400].map((delayMs) => harness.start('noop', undefined, { options: { delayMs } })));
    harness.store.hints.hint('timer', '*');
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ status: 'completed' });
    expect(leader.count(/move_due/)).toBeGreaterThan(3);
    // One pass when it starts, and one when it listens.
    for (const { count } of others) expect(count(/move_due/)).toBeLessThanOrEqual(2);
    await Promise.all([leader, ...others].map((one) => one.stop()));
  });

  it('wakes a worker for what it scheduled itself, though another leads', async () => {
    const harness = await kit.open({
      flows: { naps: `for (let n = 0; n < 3; n++) await Timer.sleep(20); return 'rested'` },
      engine: { pollMs: 60_000, heartbeatMs: 1_000, deadAfterMs: 30_000 },
    });
    await pretendLeader(harness);
    await harness.engine();
    expect(await harness.ended(await harness.start('naps'))).toMatchObject({ value: 'rested' });
  });

  it('moves what is due although the worker that leads does nothing', async () => {
    const harness = await kit.open({ tasks: { noop: () => 1 }, engine: { heartbeatMs: 1_000, deadAfterMs: 30_000 } });
    await pretendLeader(harness);
    await harness.engine({ pollMs: 50 });
    const id = await harness.start('noop', undefined, { options: { delayMs: 100 } });
    expect(await harness.ended(id)).toMatchObject({ status: 'completed' });
  });

  // A worker that has a heartbeat and does nothing, as one that is frozen.
  const pretendLeader = (harness: Harness) =>
    harness.query(`INSERT INTO rhythm.worker_heartbeats (worker_id, host, pid, queues, tasks, concurrency, code_version, beat_at)
      VALUES (' first', 'h', 1, '{}', '{}', 1, 'v', now() + interval '1 hour')`);
});
