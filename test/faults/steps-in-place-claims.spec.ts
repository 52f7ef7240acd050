// What a worker has in place and what the database has for it are compared at every heartbeat.

import { afterEach, describe, expect, it } from '@jest/globals';
import { Store } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';
import { HeldTasks, inPlace, nothingIsLeft, storeThatStops } from './steps.js';

describe('a heartbeat', () => {
  const kit = useHarness();
  const stores: Store[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  it('queues no step that begins while the worker asks what the database has for it', async () => {
    const tasks = new HeldTasks();
    const harness = await kit.open({ flows: { f: `return await Task.run('hold');` }, tasks: { hold: tasks.hold } });
    const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_unknown_steps');
    stores.push(gate.store);
    await harness.engine({}, gate.store);
    // A worker without claims has nothing to ask for.
    const other = await harness.start('f');
    await tasks.began(`${other}:1`);
    gate.arm();
    await gate.stopped();
    const id = await harness.start('f');
    await tasks.began(`${id}:1`);
    expect(await inPlace(harness, id)).toBe(1);
    const beats = async () => (await harness.query<{ n: number }>('SELECT max(beats)::integer AS n FROM rhythm.worker_heartbeats'))[0].n;
    const before = await beats();
    gate.goOn();
    await waitFor('the next heartbeat', async () => (await beats()) > before);
    expect([await inPlace(harness, id), await harness.count('work_queue')]).toEqual([1, 0]);
    for (const each of [other, id]) tasks.end(`${each}:1`, 'held');
    for (const each of [other, id]) expect(await harness.ended(each)).toMatchObject({ status: 'completed', value: 'held' });
    expect(tasks.begun).toEqual([`${other}:1`, `${id}:1`]);
    await nothingIsLeft(harness);
  });
});
