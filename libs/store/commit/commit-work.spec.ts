// An optimistic commit in which an item lost its fence writes what a checked one would have written.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { sql } from '../connect/statement.js';
import { bucketOf, childId, newId } from '../ids.js';
import { insertExecutions } from '../manage/insert-executions.js';
import { requestCancel } from '../manage/request-cancel.js';
import { sendSignals } from '../manage/send-signals.js';
import type { NewExecution } from '../new-execution.js';
import { claimWork } from '../run/claim-work.js';
import { Store } from '../store.js';
import { commitWork } from './commit-work.js';
import type { TaskCommit } from './task-commit.js';
import { type TurnCommit, turnCommit } from './turn-commit.js';

const database = useTestDatabase();
const WORKER = 'worker';
let store: Store;

beforeAll(async () => {
  store = await Store.open({ url: database.url, schema: database.schema });
});
afterAll(() => store.close());

const rows = <Row>(text: string, values: unknown[] = []) => store.db.rows<Row>(sql('spec', text), values);
const stepOf = (id: string, call: number): NewExecution => ({
  ...{ id: childId(id, call), type: 'task', targetName: 'step', queue: 'default' },
  ...{ parentId: id, parentCall: call },
});
const suspended = (id: string, fence: number, turn: number, extra: Partial<TurnCommit> = {}): TurnCommit =>
  turnCommit({
    ...{ id, bucket: bucketOf(id), fence, status: 'suspended', startedAt: Date.now() },
    state: { action: 'store', snapshot: `{"at":${turn}}`, calls: turn + 1 },
    ...{ children: [stepOf(id, turn + 1)], ...extra },
  });
const done = (id: string, fence: number, parent: string, call: number): TaskCommit => ({
  ...{ id, bucket: bucketOf(id), fence, status: 'completed', output: '"result"', attempts: 0, startedAt: Date.now() },
  parent: { id: parent, bucket: bucketOf(parent), call },
});

describe('an optimistic commit', () => {
  let ids: string[];
  // Both were started by one statement, so they are at the same fence.
  let first: number;
  beforeEach(async () => {
    await rows('TRUNCATE rhythm.executions, rhythm.work_queue, rhythm.claims, rhythm.inbox');
    ids = [newId(), newId()];
    await insertExecutions(
      store.db,
      ids.map((id) => ({ id, fresh: true, type: 'workflow', targetName: 'flow', queue: 'default', version: 'v' })),
    );
    first = (await claimWork(store.db, WORKER, 'claim', ['default'], 10)).items[0].fence;
  });
  const commit = (tasks: TaskCommit[], turns: TurnCommit[], optimistic = true) =>
    commitWork(store.db, { workerId: WORKER, tasks, turns, claims: ['claim'], optimistic });
  const queued = async () =>
    (await rows<{ id: string }>('SELECT execution_id AS id FROM rhythm.work_queue ORDER BY seq')).map(({ id }) => id).sort();

  it('writes everything when no item lost', async () => {
    expect(await commit([], [suspended(ids[0], first, 0), suspended(ids[1], first, 0)])).toMatchObject({ tasks: [], turns: [true, true] });
    expect(await queued()).toEqual(ids.map((id) => childId(id, 1)).sort());
    expect(await rows('SELECT 1 FROM rhythm.claims')).toEqual([]);
  });

  it('writes the winners and wakes the losers when another worker was faster', async () => {
    await rows('UPDATE rhythm.executions SET fence = 5 WHERE id = $1', [ids[1]]);
    expect(await commit([], [suspended(ids[0], first, 0), suspended(ids[1], first, 0)])).toMatchObject({ tasks: [], turns: [true, false] });
    expect(await queued()).toEqual([childId(ids[0], 1), ids[1]].sort());
    expect(await rows('SELECT execution_id AS id FROM rhythm.workflow_execution_context')).toEqual([{ id: ids[0] }]);
  });

  it('loses without harm when the winner has started the same child', async () => {
    await commit([], [suspended(ids[0], first, 0)], false);
    expect(await commit([], [suspended(ids[0], first, 0), suspended(ids[1], first, 0)])).toMatchObject({ tasks: [], turns: [false, true] });
    expect(await rows('SELECT count(*)::integer AS n FROM rhythm.executions WHERE parent_id IS NOT NULL')).toEqual([{ n: 2 }]);
  });

  it('writes an event for the parent of a fused step when its turn was lost', async () => {
    const { fence } = await commit([], [suspended(ids[0], first, 0)], false);
    await rows('UPDATE rhythm.executions SET fence = 9 WHERE id = $1', [ids[0]]);
    await rows('DELETE FROM rhythm.work_queue');
    const task = done(childId(ids[0], 1), fence, ids[0], 1);
    expect(await commit([task], [suspended(ids[0], fence, 1, { needs: 0 })])).toMatchObject({ tasks: [true], turns: [false] });
    expect(await rows('SELECT execution_id AS id, kind, call, payload FROM rhythm.inbox')).toEqual([
      { id: ids[0], kind: 'completed', call: 1, payload: 'result' },
    ]);
    expect(new Set(await queued())).toEqual(new Set([ids[0]]));
  });

  describe.each([true, false])('with a fused step (optimistic: %s)', (optimistic) => {
    let fence: number;
    // Both runs wait for their first step; those steps end, and the turns that follow were run without reading the stored events.
    const steps = (signals: number[] = []) =>
      commit(
        ids.map((id) => done(childId(id, 1), fence, id, 1)),
        ids.map((id, needs) => suspended(id, fence, 1, { needs, unread: { takesSignals: true, signals } })),
        optimistic,
      );
    const send = async () => {
      await sendSignals(store.db, [{ executionId: ids[0], name: 'go' }]);
      return (await rows<{ seq: number }>('SELECT max(seq) AS seq FROM rhythm.signals'))[0].seq;
    };
    beforeEach(async () => {
      await rows('TRUNCATE rhythm.signals');
      const turns = ids.map((id) => suspended(id, first, 0));
      ({ fence } = await commit([], turns, false));
    });

    it('does not overtake an event that is stored, and puts the result behind it', async () => {
      await requestCancel(store.db, [ids[0]]);
      expect(await steps()).toMatchObject({ tasks: [true, true], turns: [false, true] });
      expect(await rows('SELECT execution_id AS id, kind FROM rhythm.inbox ORDER BY seq')).toEqual([
        { id: ids[0], kind: 'cancel' },
        { id: ids[0], kind: 'completed' },
      ]);
    });

    it('does not overtake a signal that is stored', async () => {
      await send();
      expect(await steps()).toMatchObject({ tasks: [true, true], turns: [false, true] });
    });

    it('goes on past a signal that the run has already', async () => {
      const known = await send();
      expect(await steps([known])).toMatchObject({ tasks: [true, true], turns: [true, true] });
    });
  });

  it('does not move a parent whose fused step was taken by another worker', async () => {
    const { fence } = await commit([], [suspended(ids[0], first, 0)], false);
    const step = childId(ids[0], 1);
    await rows('UPDATE rhythm.executions SET fence = 3 WHERE id = $1', [step]);
    expect(await commit([done(step, fence, ids[0], 1)], [suspended(ids[0], fence, 1, { needs: 0 })])).toMatchObject({ turns: [false] });
    expect(await rows('SELECT snapshot::text AS text FROM rhythm.workflow_execution_context')).toEqual([{ text: '{"at":0}' }]);
  });
});
