// Runs that behave well go on beside flows that compute without end, even those claimed in the same moment.

import { describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';

const HOSTILE = 10;
const NEIGHBOURS = 30;

describe('flows that compute until they have used up their fuel', () => {
  const kit = useHarness();

  it('end after all short runs that were started with them, and then at their limit', async () => {
    const harness = await kit.open({
      flows: { hostile: 'for (;;) {}', short: `const a = await Task.run('echo', 1); return await Task.run('echo', a + 1);` },
      tasks: { echo: (input: number) => input },
    });
    // All of them are in the queue before anybody claims: one claim takes them together.
    const hostile = await Promise.all(Array.from({ length: HOSTILE }, () => harness.start('hostile')));
    const short = await Promise.all(Array.from({ length: NEIGHBOURS }, () => harness.start('short')));
    await harness.engine();
    for (const id of short) expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 2 });
    for (const id of hostile) expect(await harness.ended(id, 60_000)).toMatchObject({ error: { code: 'FLOW_LIMIT_FUEL' } });
    const ends = harness.events.flatMap((event) => (event.type === 'finished' && event.name !== 'echo' ? [event.name] : []));
    expect(ends).toEqual([...Array(NEIGHBOURS).fill('short'), ...Array(HOSTILE).fill('hostile')]);
  }, 120_000);

  it('do not keep a worker from stopping', async () => {
    const harness = await kit.open({ flows: { hostile: 'for (;;) {}' }, limits: { fuelPerTurn: Number.MAX_SAFE_INTEGER } });
    const ids = await Promise.all(Array.from({ length: HOSTILE }, () => harness.start('hostile')));
    const engine = await harness.engine({ shutdownGraceMs: 0 });
    await waitFor('their turns', () => harness.events.filter(({ type }) => type === 'started').length === HOSTILE);
    await engine.stop();
    for (const id of ids) expect(await harness.status(id)).toBe('pending');
    expect(await harness.count('work_queue')).toBe(HOSTILE);
  }, 60_000);
});
