// What loading and writing cost: large states one at a time, a slow snapshot store, large errors, long histories.

import { describe, expect, it } from '@jest/globals';
import { groupSize, sizeOf } from '../../libs/engine/commit/commit-group.js';
import { DEFAULT_ENGINE_OPTIONS } from '../../libs/engine/index.js';
import { bucketOf, loadRuns, sendSignals, turnCommit } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const WAITS = `const text = 'x'.repeat(Inputs); const said = await Signal.when('go'); return [text.length, said];`;

describe('a worker', () => {
  const kit = useHarness();
  const waiting = async (ids: readonly string[], harness: Awaited<ReturnType<typeof kit.open>>) =>
    waitFor(
      'the runs to wait',
      async () => (await harness.count('executions', `status = 'suspended'`)) === ids.length && (await harness.count('claims')) === 0,
    );

  it('loads small states together, and a large state when it is its turn', async () => {
    const harness = await kit.open({ flows: { f: WAITS } });
    const first = await harness.engine({ cachedRuns: 0 });
    const small = await harness.start('f', 10);
    const large = [await harness.start('f', 200_000), await harness.start('f', 300_000)];
    await waiting([small, ...large], harness);
    await first.stop();
    const runs = [small, ...large].map((id) => ({ id, bucket: bucketOf(id) }));
    const { runs: loaded } = await loadRuns(harness.store.db, runs, runs);
    const byId = new Map(loaded.map((run) => [run.id, run]));
    expect(byId.get(small)).toMatchObject({ isLarge: false, snapshot: expect.any(String) });
    for (const id of large) expect(byId.get(id)).toMatchObject({ isLarge: true, snapshot: null, input: null });
    const [whole] = (await loadRuns(harness.store.db, [runs[1]], [], { large: true })).runs;
    expect(whole.snapshot?.length).toBeGreaterThan(200_000);
    await sendSignals(
      harness.store.db,
      runs.map(({ id }) => ({ executionId: id, name: 'go', payload: '1' })),
    );
    await harness.engine();
    expect((await harness.ended(small)).value).toEqual([10, 1]);
    expect((await harness.ended(large[0])).value).toEqual([200_000, 1]);
    expect((await harness.ended(large[1])).value).toEqual([300_000, 1]);
  });

  it('reads the states of one batch from a slow snapshot store side by side', async () => {
    const states = new Map<string, string>();
    let reading = 0;
    let most = 0;
    let isSlow = false;
    const snapshots = {
      thresholdBytes: 1,
      put: async (name: string, text: string) => {
        states.set(name, text);
        return name;
      },
      get: async (name: string) => {
        reading++;
        most = Math.max(most, reading);
        // Each waits for another one, so that one after the other would wait for ever.
        if (isSlow) await waitFor('another state to be read', async () => most > 1);
        reading--;
        return states.get(name);
      },
      remove: async (name: string) => void states.delete(name),
    };
    const harness = await kit.open({ flows: { f: WAITS }, snapshots });
    const first = await harness.engine();
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(await harness.start('f', 10));
    await waiting(ids, harness);
    await first.stop();
    await sendSignals(
      harness.store.db,
      ids.map((executionId) => ({ executionId, name: 'go', payload: '1' })),
    );
    isSlow = true;
    await harness.engine();
    for (const id of ids) expect((await harness.ended(id)).value).toEqual([10, 1]);
    expect(most).toBeGreaterThan(1);
  });

  it('leaves out the data of an error that is larger than a payload may be, and says so', async () => {
    const harness = await kit.open({
      tasks: {
        large: () => {
          const cause = Object.assign(new Error('inner'), { data: 'y'.repeat(60_000) });
          throw Object.assign(new Error('outer', { cause }), { data: 'x'.repeat(60_000) });
        },
        usual: () => {
          throw Object.assign(new Error('outer'), { data: { code: 7 } });
        },
      },
      engine: { payloadBytes: 100_000 },
    });
    await harness.engine();
    const { error } = await harness.ended(await harness.start('large'));
    expect(error?.data).toBe('x'.repeat(60_000));
    expect(error?.cause).toMatchObject({ message: expect.stringContaining('limits.payloadBytes') });
    expect(error?.cause).not.toHaveProperty('data');
    expect((await harness.ended(await harness.start('usual'))).error?.data).toEqual({ code: 7 });
  });

  it('keeps the newest failed attempts of a task in its history', async () => {
    const harness = await kit.open({
      tasks: {
        fails: () => {
          throw new Error('no');
        },
      },
      policies: { fails: { maxAttempts: 130, delayMs: 0 } },
    });
    await harness.engine();
    const id = await harness.start('fails');
    const { error } = await harness.ended(id, 60_000);
    expect(error?.attempts).toBe(130);
    const [{ n, last }] = await harness.query<{ n: number; last: number }>(
      `SELECT count(*)::integer AS n, max((detail->>'attempts')::integer) AS last FROM rhythm.history WHERE kind = 'attempt-failed'`,
    );
    expect([n, last]).toEqual([100, 129]);
  }, 90_000);

  it('counts errors, log lines and replies when it decides what one statement writes', () => {
    const large = 'x'.repeat(3_000_000);
    const item = { id: 'r', bucket: 1 } as never;
    const base = { id: 'r', bucket: 1, fence: 1, status: 'suspended', startedAt: 0, state: { action: 'leave' } } as const;
    const works = [
      { task: { error: large } },
      { turn: turnCommit({ ...base, error: large }) },
      { turn: turnCommit({ ...base, replies: [{ call: 1, kind: 'failed', payload: large }] }) },
      { turn: turnCommit({ ...base, logs: [{ kind: 'log', at: 0, detail: { level: 'log', message: large } }] }) },
    ];
    for (const work of works) {
      const two = [work, { task: { output: large } }].map((each) => {
        const finished = { items: [item], ...each } as never;
        return { work: finished, bytes: sizeOf(finished) };
      });
      expect(groupSize(two)).toBe(1);
    }
  });

  it('that cannot start again leaves no listeners behind', async () => {
    kit.expectProblems();
    const harness = await kit.open({});
    await harness.engine({ heartbeatMs: 50 });
    const listeners = () => {
      const { listeners: all } = harness.store.hints as unknown as { listeners: Map<string, Set<unknown>> };
      return [...all.values()].reduce((sum, set) => sum + set.size, 0);
    };
    const before = listeners();
    await harness.query(`ALTER TABLE rhythm.worker_heartbeats RENAME TO worker_heartbeats_away`);
    await harness.query(`CREATE TABLE rhythm.worker_heartbeats (worker_id text, beats bigint, beat_at timestamptz)`);
    const failed = () => harness.problems().filter((problem) => problem.startsWith('start of a worker')).length;
    await waitFor('three starts to fail', async () => failed() >= 3);
    expect(listeners()).toBeLessThanOrEqual(before);
    await harness.query(`DROP TABLE rhythm.worker_heartbeats`);
    await harness.query(`ALTER TABLE rhythm.worker_heartbeats_away RENAME TO worker_heartbeats`);
    await waitFor('a worker to start', async () => listeners() === before);
  });

  it('has the limits that the documentation says', () => {
    expect(DEFAULT_ENGINE_OPTIONS).toMatchObject({ maxDepth: 100, maxDescendants: 100_000 });
  });
});
