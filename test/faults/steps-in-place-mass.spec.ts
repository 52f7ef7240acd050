// A worker dies with ten thousand runs that each wait for a step in place.

import { describe, expect, it } from '@jest/globals';
import { bucketOf, newId, readPending, registerWorker } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { FREE_SLOTS, HeldTasks, inPlace, nothingIsLeft } from './steps.js';

const RUNS = 10_000;
// As many as one commit begins at most.
const RUNS_PER_CLAIM = 500;
const DEAD = 'dead-worker';

describe('ten thousand runs whose steps in place lost their worker', () => {
  const kit = useHarness();

  it('have each step queued once, by two workers at a time, and go on from there', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({ flows: { f: `return ['the step', await Task.run('hold')];` } });
    const maker = await harness.engine(FREE_SLOTS, harness.store, { hold: held.hold });
    const model = await harness.start('f');
    await held.began(`${model}:1`);
    expect(await inPlace(harness, model)).toBe(1);
    const ids = await copies(harness, model);
    held.end(`${model}:1`, 'held');
    await harness.ended(model);
    await maker.stop();
    expect(await harness.count('executions', 'pending IS NOT NULL')).toBe(RUNS);

    // They serve another queue, so that what they recover stays in its own.
    for (const _ of [1, 2]) await harness.engine({ queues: ['elsewhere'] });
    await waitFor('the claims of the dead worker to go', async () => (await harness.count('claims')) === 0, { timeoutMs: 30_000 });
    expect(await harness.count('worker_heartbeats', `worker_id = '${DEAD}'`)).toBe(0);
    const recovered = harness.events.flatMap((event) => (event.type === 'recovered' ? event.executions : []));
    const steps = ids.map((id) => `${id}:1`).sort();
    expect(recovered.sort()).toEqual(steps);
    const queued = await harness.query<{ id: string }>(
      `SELECT w.execution_id AS id FROM rhythm.work_queue w JOIN rhythm.executions e ON e.id = w.execution_id AND e.bucket = w.bucket AND e.fence = w.fence
      WHERE e.status = 'pending' AND e.crashes = 1 AND e.attempts = 0`,
    );
    expect(queued.map(({ id }) => id).sort()).toEqual(steps);
    expect(await harness.count('work_queue')).toBe(RUNS);
    expect(await harness.count('executions', `type = 'workflow' AND (crashes > 0 OR pending IS NOT NULL)`)).toBe(0);
    expect(await harness.count('history', `kind = 'recovered'`)).toBe(RUNS);

    await harness.engine({ concurrency: 500, claimBatch: 500 }, harness.store, { hold: async () => 'again' });
    await waitFor(
      'the runs to end',
      async () => (await harness.count('executions', `status = 'completed' AND output::text = '["the step","again"]'`)) === RUNS,
      { timeoutMs: 60_000, everyMs: 200 },
    );
    await nothingIsLeft(harness);
  }, 120_000);
});

/** Copies of a run that waits for a step in place, with steps of a worker that has died. */
async function copies(harness: Harness, model: string): Promise<string[]> {
  const { db } = harness.store;
  await registerWorker(db, {
    workerId: DEAD,
    host: 'nowhere',
    pid: 1,
    queues: ['default'],
    tasks: ['hold'],
    concurrency: RUNS,
    codeVersion: 'spec',
  });
  const [{ pending }] = await harness.query<{ pending: string }>('SELECT pending FROM rhythm.executions WHERE id = $1', [model]);
  const [{ worker, token }] = readPending(pending);
  const ids = Array.from({ length: RUNS }, () => newId());
  await harness.query(
    `INSERT INTO rhythm.executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', u.id, 'bucket', u.bucket, 'fence', u.n,
      'pending', replace(replace(e.pending, $4, $5), $6, (1000 + u.n)::text)))).*
    FROM unnest($1::text[], $2::smallint[]) WITH ORDINALITY AS u(id, bucket, n), rhythm.executions e WHERE e.id = $3`,
    [ids, ids.map(bucketOf), model, worker, DEAD, String(token)],
  );
  for (let n = 0; n < RUNS; n += RUNS_PER_CLAIM) {
    const some = ids.slice(n, n + RUNS_PER_CLAIM);
    await harness.query(`INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences) VALUES ($1, $2, $3, $4, $5)`, [
      DEAD,
      newId(),
      some,
      some.map(bucketOf),
      some.map(() => -1),
    ]);
  }
  return ids;
}
