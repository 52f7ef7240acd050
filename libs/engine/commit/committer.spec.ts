// Two commits queued on one connection: whatever happens to the first, nothing of it is lost, and no execution fails for it.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { useTestDatabase, waitFor } from '../../../test/support/index.js';
import { claimWork, insertExecutions, type Runner, recoverWorker, registerWorker, Store, sql } from '../../store/index.js';
import { EngineEvents } from '../engine-events.js';
import { DEFAULT_ENGINE_OPTIONS, type WorkerParts } from '../engine-options.js';
import { Wakeups } from '../loops/wakeups.js';
import { REAL_RUNTIME } from '../runtime.js';
import { completed } from '../tasks/task-commits.js';
import { type HeldItem, HeldWork } from '../work/held-work.js';
import { Slots } from '../work/slots.js';
import type { Announcer } from './announcer.js';
import { Committer } from './committer.js';
import type { ImmediateClaims } from './immediate-claims.js';

const GROUP = 100;

// A committer alone: nothing is announced, and no child is claimed.
function committerOf(
  store: Store,
  workerId: string,
  held: HeldWork,
  main: Runner,
  separate: Runner,
  events = new EngineEvents(),
): Committer {
  const wakeups = new Wakeups(REAL_RUNTIME, 1_000);
  const parts = { store, workerId, events, runtime: REAL_RUNTIME, options: DEFAULT_ENGINE_OPTIONS } as WorkerParts;
  const immediate = { choose: () => undefined } as unknown as ImmediateClaims;
  const announcer = { written: () => undefined } as unknown as Announcer;
  return new Committer(parts, { main, separate }, wakeups, new Slots(1, wakeups.claims), held, immediate, announcer);
}

describe('two commits queued on one connection', () => {
  const database = useTestDatabase();
  let store: Store;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
  });
  afterAll(() => store.close());

  const rows = <Row>(text: string) => store.db.rows<Row>(sql('spec', text));
  const count = async (table: string, where = 'true') =>
    (await rows<{ n: number }>(`SELECT count(*)::int AS n FROM rhythm.${table} e WHERE ${where}`))[0].n;
  const submit = (committer: Committer, items: readonly HeldItem[]) =>
    items.map((item) => committer.submit({ items: [item], task: completed(item, '1') }));

  // One claim, whose items are written in two groups, the second while the first is on its way.
  async function twoGroups(workerId: string, connection: (link: Runner) => Runner) {
    await rows('TRUNCATE rhythm.executions, rhythm.work_queue, rhythm.claims, rhythm.worker_heartbeats');
    await registerWorker(store.db, { workerId, host: 'h', pid: 1, queues: ['q'], tasks: [], concurrency: 1, codeVersion: 'x' });
    const ids = Array.from({ length: 2 * GROUP }, (_, n) => `task-${String(n).padStart(3, '0')}`);
    await insertExecutions(
      store.db,
      ids.map((id) => ({ id, fresh: true, type: 'task', targetName: 't', queue: 'q' })),
    );
    const held = new HeldWork(REAL_RUNTIME);
    held.expectClaim('claim');
    const items = held.take(await claimWork(store.db, workerId, 'claim', ['q'], 2 * GROUP));
    expect(items).toHaveLength(2 * GROUP);
    const link = store.link();
    let sent = 0;
    const watched = connection(link);
    // The reply to the first is delivered when the second has been sent.
    const counting: Runner = {
      rows: (statement, values) => {
        const isFirst = ++sent === 1;
        const reply = watched.rows(statement, values);
        return (isFirst ? reply.finally(() => waitFor('the second to be sent', () => sent > 1)) : reply) as never;
      },
    };
    const committer = committerOf(store, workerId, held, counting, store.db);
    const write = async () => {
      const first = submit(committer, items.slice(0, GROUP));
      await waitFor('the first to be on its way', () => sent === 1);
      const second = submit(committer, items.slice(GROUP));
      await waitFor('the second to be queued behind it', () => sent > 1);
      return { first, second };
    };
    return { held, link, write, committer };
  }

  it('leave the claim of what is not written yet, so that it is found when the process dies', async () => {
    let statements = 0;
    // It dies before its third statement is sent: the one that would write the first group as a checked commit.
    const { link, write } = await twoGroups('dying', (link) => ({
      rows: (statement, values) => (++statements > 2 ? new Promise(() => undefined) : link.rows(statement, values)),
    }));
    // Another worker moved one of the first group.
    await rows(`UPDATE rhythm.executions SET fence = fence + 1, status = 'paused' WHERE id = 'task-000'`);
    const { second } = await write();
    await Promise.all(second);
    await waitFor('the third statement', () => statements === 3);
    await link.close();
    const recovered = await recoverWorker(store.db, 'dying', 0, 3);
    expect(recovered?.given).toHaveLength(GROUP - 1);
    expect(await count('executions', `status = 'completed'`)).toBe(GROUP);
    expect(
      await count('executions', `status = 'pending' AND NOT EXISTS (SELECT FROM rhythm.work_queue w WHERE w.execution_id = e.id)`),
    ).toBe(0);
  });

  it('leave no claim behind when both are written', async () => {
    const { link, write, committer, held } = await twoGroups('living', (link) => link);
    const { first, second } = await write();
    await Promise.all([...first, ...second]);
    await committer.drained(10_000);
    await link.close();
    expect(await count('executions', `status = 'completed'`)).toBe(2 * GROUP);
    expect(await count('claims')).toBe(0);
    expect(held.hasSpent).toBe(false);
  });

  it('fail no execution because a table was locked for a moment while they were prepared', async () => {
    const [{ name }] = await rows<{ name: string }>('SELECT quote_ident(current_database()) AS name');
    await rows(`ALTER DATABASE ${name} SET statement_timeout = '200ms'`);
    const refusals: string[] = [];
    const { link, write } = await twoGroups('patient', (link) => ({
      rows: (statement, values) =>
        link.rows(statement, values).catch((error) => {
          refusals.push(error.code);
          throw error;
        }) as never,
    }));
    // The link is open, with that limit; the one that locks has its own.
    await link.rows(sql('spec', 'SELECT 1'));
    const { first, second } = await store.db.transaction(async (db) => {
      await db.rows(sql('spec', `SET LOCAL statement_timeout = 0`));
      await db.rows(sql('spec', 'LOCK TABLE rhythm.executions IN ACCESS EXCLUSIVE MODE'));
      const groups = await write();
      await waitFor('both to be refused again and again', () => refusals.length > 8);
      // The second may also be refused because the first did not prepare its statement (26000).
      expect(refusals).toContain('57014');
      expect(refusals.filter((code) => code !== '57014' && code !== '26000')).toEqual([]);
      return groups;
    });
    await Promise.all([...first, ...second]);
    await link.close();
    await rows(`ALTER DATABASE ${name} RESET statement_timeout`);
    expect(await rows(`SELECT status, count(*)::int AS n FROM rhythm.executions GROUP BY 1`)).toEqual([
      { status: 'completed', n: 2 * GROUP },
    ]);
  });

  it('keep the claim of a work that is tried separately while another of its group fails for its values', async () => {
    await rows('TRUNCATE rhythm.executions, rhythm.work_queue, rhythm.claims, rhythm.worker_heartbeats');
    await registerWorker(store.db, { workerId: 'mixed', host: 'h', pid: 1, queues: ['q'], tasks: [], concurrency: 1, codeVersion: 'x' });
    await insertExecutions(
      store.db,
      ['bad', 'locked', 'fine'].map((id) => ({ id, fresh: true, type: 'task', targetName: 't', queue: 'q' })),
    );
    const held = new HeldWork(REAL_RUNTIME);
    held.expectClaim('claim');
    const items = held.take(await claimWork(store.db, 'mixed', 'claim', ['q'], 3));
    const refusal = (code: string) => Object.assign(new DatabaseError('refused', 0, 'error'), { code });
    const runner: Runner = {
      rows: async (statement, values = []) => {
        const has = (text: string) => values.some((value) => String(value).includes(text));
        if (has('"unwritable"')) throw refusal('22021');
        if (has('locked')) throw refusal('55P03');
        return store.db.rows(statement, values);
      },
    };
    const problems: string[] = [];
    const events = new EngineEvents();
    events.subscribe(['problem'], ({ where }) => problems.push(where));
    const committer = committerOf(store, 'mixed', held, runner, runner, events);
    for (const item of items) {
      void committer.submit({ items: [item], task: completed(item, item.id === 'bad' ? '"unwritable"' : '1') });
    }
    await waitFor('one to be tried separately', () => problems.includes('commit of locked, which is tried separately'));
    await waitFor('the others to be written', async () => (await count('executions', 'finished_at IS NOT NULL')) === 2);
    // The process dies.
    committer.stop();
    expect((await recoverWorker(store.db, 'mixed', 0, 3))?.given.map(({ id }) => id)).toEqual(['locked']);
  });
});
