// How many round trips the hot paths take; docs/round-trips.md has the same numbers.

import { describe, expect, it, jest } from '@jest/globals';
import { insertExecutions, newId, type Runner, type Statement, sendSignals } from '../../libs/store/index.js';
import { losingReplies } from '../faults/watched-links.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

describe('round trips', () => {
  const kit = useHarness();

  it('start: one statement for any number of executions', async () => {
    const harness = await kit.open({});
    const names: string[] = [];
    const counting: Runner = {
      rows: (statement: Statement, values) => {
        names.push(statement.name);
        return harness.store.db.rows(statement, values);
      },
    };
    await insertExecutions(
      counting,
      Array.from({ length: 500 }, () => ({ id: newId(), type: 'task', targetName: 't', queue: 'default' })),
    );
    expect(names).toEqual(['rhythm_insert_executions']);
  });

  it('100 waiting tasks: not more than three claims and three commits', async () => {
    const harness = await kit.open({ tasks: { one: () => 1 } });
    for (let n = 0; n < 100; n++) await harness.start('one');
    const names: string[] = [];
    const store = losingReplies(harness.store, ({ name }) => names.push(name) === 0);
    await harness.engine({ concurrency: 100, claimBatch: 100, pollMs: 60_000 }, store);
    await waitFor('all to complete', async () => (await harness.count('executions', `status = 'completed'`)) === 100);
    expect(names.filter((name) => name === 'rhythm_claim_work').length).toBeLessThanOrEqual(3);
    expect(names.filter((name) => name.startsWith('rhythm_commit_')).length).toBeLessThanOrEqual(3);
  });

  it('a workflow of 5 steps: one claim, one load, one commit for the first turn and one for each step', async () => {
    const harness = await kit.open({
      flows: { five: `for (let n = 0; n < 5; n++) await Task.run('one'); return 1;` },
      tasks: { one: () => 1 },
    });
    const names: string[] = [];
    const store = losingReplies(harness.store, ({ name }) => names.push(name) === 0);
    await harness.engine({ pollMs: 60_000 }, store);
    await waitFor('the first claim from the empty queue', () => names.includes('rhythm_claim_work'));
    const before = names.filter((name) => name === 'rhythm_claim_work').length;
    const id = await harness.start('five');
    await harness.ended(id);
    const count = (test: (name: string) => boolean) => names.filter(test).length;
    expect(count((name) => name.startsWith('rhythm_commit_'))).toBe(6);
    expect(count((name) => name === 'rhythm_load_contexts')).toBe(1);
    expect(count((name) => name === 'rhythm_load_events')).toBe(1);
    // Claims between the commits find the queue empty: they are the idle worker's own, not part of a step.
    expect(count((name) => name === 'rhythm_claim_work') - before).toBeLessThanOrEqual(8);
  });

  it('allow-lists: one read a second for all workflows that run', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `flow-${n}`);
    const source = `for (let n = 0; n < 5; n++) await Task.run('one'); return 1;`;
    const harness = await kit.open({
      flows: Object.fromEntries(names.map((name) => [name, source])),
      tasks: { one: () => 1 },
    });
    const ids: string[] = [];
    for (const name of names) ids.push(await harness.start(name));
    const statements = jest.spyOn(harness.store.db, 'rows');
    const began = performance.now();
    await harness.engine({ concurrency: 100, claimBatch: 100, pollMs: 60_000 });
    for (const id of ids) await harness.ended(id);
    const reads = statements.mock.calls.filter(([{ name }]) => name === 'rhythm_allow_lists_in_force');
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 1_000);
  });

  it('a workflow of 5 steps with a signal that no wait has taken yet: still one commit for each step', async () => {
    const harness = await kit.open({
      flows: { five: `for (let n = 0; n < 5; n++) await Task.run('one'); return await Signal.when('kept');` },
      tasks: { one: () => 1 },
    });
    const id = await harness.start('five');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'kept', payload: '"signal"' }]);
    const names: string[] = [];
    const store = losingReplies(harness.store, ({ name }) => names.push(name) === 0);
    await harness.engine({ pollMs: 60_000 }, store);
    expect(await harness.ended(id)).toMatchObject({ value: 'signal' });
    expect(names.filter((name) => name.startsWith('rhythm_commit_'))).toHaveLength(6);
    expect(harness.events.some((event) => event.type === 'lost')).toBe(false);
  });
});
