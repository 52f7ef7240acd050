// Trees of runs: how deep and how large they may become, and how a cancellation stops one that grows.

import { describe, expect, it } from '@jest/globals';
import { keyedId, requestCancel } from '../../libs/store/index.js';
import { checkAnyId, MAX_KEY_LENGTH, MAX_NAME_LENGTH } from '../../src/check-argument.js';
import { SCHEMA } from '../../src/config/schema.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const TWICE = `await Promise.all([Workflow.run('self'), Workflow.run('self')])`;

describe('a tree of runs', () => {
  const kit = useHarness();
  const LIVING = `status NOT IN ('completed', 'failed', 'cancelled')`;

  it('is stopped by the cancellation of its root, however fast it grows', async () => {
    const harness = await kit.open({ flows: { self: TWICE } });
    await harness.engine({ maxDescendants: 10_000_000, maxDepth: 190 });
    const id = await harness.start('self');
    await waitFor('the tree to grow', async () => (await harness.count('executions')) > 300);
    await requestCancel(harness.store.db, [id], 'enough');
    harness.store.hints.hint('work', 'default');
    await waitFor('the whole tree to end', async () => (await harness.count('executions', LIVING)) === 0);
    expect((await harness.ended(id)).status).toBe('cancelled');
    expect(await harness.count('executions', `status <> 'cancelled'`)).toBe(0);
  });

  it('starts what a cancelled run calls to clean up, and what that calls', async () => {
    const harness = await kit.open({
      flows: {
        f: `try { await Signal.when('never'); } finally { await Workflow.run('undo'); }`,
        undo: `return await Workflow.run('deeper');`,
        deeper: `return await Task.run('note');`,
      },
      tasks: { note: () => 'noted' },
    });
    await harness.engine();
    const id = await harness.start('f');
    await waitFor('the run to wait', async () => (await harness.status(id)) === 'suspended' && (await harness.count('claims')) === 0);
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    expect((await harness.ended(id)).status).toBe('cancelled');
    const rows = await harness.query<{ name: string; status: string }>(
      `SELECT target_name AS name, status FROM rhythm.executions WHERE type = 'workflow' AND parent_id IS NOT NULL`,
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { name: 'undo', status: 'completed' },
        { name: 'deeper', status: 'completed' },
      ]),
    );
  });

  it('starts what a child calls to clean up that is cancelled with its root', async () => {
    const harness = await kit.open({
      flows: {
        top: `return await Workflow.run('mid');`,
        mid: `try { await Timer.sleep('1h'); } catch (error) { await Workflow.run('refund'); throw error; }`,
        refund: `return await Task.run('note');`,
      },
      tasks: { note: () => 'noted' },
    });
    await harness.engine();
    const id = await harness.start('top');
    await waitFor(
      'the child to wait',
      async () => (await harness.count('executions', `target_name = 'mid' AND status = 'suspended'`)) === 1,
    );
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    expect((await harness.ended(id)).status).toBe('cancelled');
    await waitFor('everything to end', async () => (await harness.count('executions', LIVING)) === 0);
    const rows = await harness.query<{ name: string; status: string }>(
      `SELECT target_name AS name, status FROM rhythm.executions WHERE target_name IN ('mid', 'refund') ORDER BY 1`,
    );
    expect(rows).toEqual([
      { name: 'mid', status: 'cancelled' },
      { name: 'refund', status: 'completed' },
    ]);
  });

  it('has no more executions at one time than allowed, and comes to its end', async () => {
    const harness = await kit.open({ flows: { self: TWICE } });
    await harness.engine({ maxDescendants: 200, maxDepth: 190 });
    const id = await harness.start('self');
    let most = 0;
    await waitFor(
      'the whole tree to end',
      async () => {
        const living = await harness.count('executions', LIVING);
        most = Math.max(most, living);
        return living === 0;
      },
      { timeoutMs: 30_000 },
    );
    // A batch of turns may start more before the tree is counted again.
    expect(most).toBeLessThan(200 + 2 * 200);
    expect(await harness.count('executions')).toBeLessThan(5 * 200 + 2 * 200);
    expect(JSON.stringify((await harness.ended(id)).error)).toContain('RHYTHM_TOO_MANY_DESCENDANTS');
  });

  it('is as deep as allowed, and the call that goes deeper fails', async () => {
    const harness = await kit.open({
      flows: { self: `try { return 1 + await Workflow.run('self'); } catch (error) { return error.code; }` },
    });
    await harness.engine({ maxDepth: 3 });
    const id = await harness.start('self');
    await harness.ended(id);
    expect((await harness.ended(`${id}:1:1:1`)).value).toBe('RHYTHM_TOO_DEEP');
    expect(await harness.count('executions')).toBe(4);
  });

  it('has only ids that can be read and cancelled', () => {
    const [, deepest] = /(\d+)$/.exec(SCHEMA.limits.depth.kind) as RegExpExecArray;
    const longest = keyedId(':'.repeat(MAX_NAME_LENGTH), ':'.repeat(MAX_KEY_LENGTH));
    // One level more: a task of the deepest run.
    const id = longest + ':999999999'.repeat(Number(deepest) + 1);
    expect(() => checkAnyId(id, 'id')).not.toThrow();
  });
});
