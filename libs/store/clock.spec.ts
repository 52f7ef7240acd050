// The clock of the schema: statements follow it when a test replaces it, heartbeats do not, and the planner inlines it.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../test/support/index.js';
import { commitWork } from './commit/commit-work.js';
import { turnCommit } from './commit/turn-commit.js';
import type { Link } from './connect/link.js';
import { sql } from './connect/statement.js';
import { bucketOf, newId } from './ids.js';
import { insertExecutions } from './manage/insert-executions.js';
import { sendSignals } from './manage/send-signals.js';
import { getExecution } from './read/read-execution.js';
import { claimWork } from './run/claim-work.js';
import { registerWorker, writeHeartbeat } from './run/heartbeat.js';
import { moveDue } from './run/move-due.js';
import { Store } from './store.js';

const DAY_MS = 24 * 3_600_000;

describe('the clock of the schema', () => {
  const database = useTestDatabase();
  let store: Store;
  // One connection for all: its prepared statements are planned before the function is replaced.
  let link: Link;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
    link = store.link();
  });
  afterEach(() => setClock('statement_timestamp()'));
  afterAll(async () => {
    await link.close();
    await store.close();
  });

  const rows = <Row>(text: string, values: unknown[] = []) => store.db.rows<Row>(sql('spec', text), values);
  const setClock = (time: string) =>
    store.db.rows(sql('spec', `CREATE OR REPLACE FUNCTION rhythm.clock() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT ${time} $$`));
  const tomorrow = () => setClock(`now() + interval '1 day'`);
  const start = async (options = {}) => {
    const id = newId();
    await insertExecutions(link, [{ id, fresh: true, type: 'workflow', targetName: 'flow', queue: 'q', version: 'v', options }]);
    return id;
  };
  const daysAhead = (time: Date | number) => Math.round((Number(time) - Date.now()) / DAY_MS) || 0;

  // The first test: the others replace the function of the migration.
  it('is inlined: due rows are found by the index, without a call of the function', async () => {
    const due = `SELECT 1 FROM rhythm.scheduled_queue s WHERE s.kind = 'run' AND s.due_at <= rhythm.clock() ORDER BY s.due_at LIMIT 10`;
    const plan = await link.rows<{ 'QUERY PLAN': string }>(sql('spec', `EXPLAIN (COSTS OFF) ${due}`));
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Index (Only )?Scan using scheduled_queue_runs/);
    expect(text).toMatch(/Index Cond: \(due_at <= statement_timestamp\(\)\)/);
  });

  it('fires a timer now that is due tomorrow', async () => {
    const id = await start();
    const { items } = await claimWork(link, 'worker', 'claim', ['q'], 10);
    const { fence } = items.find((item) => item.id === id)!;
    const turn = turnCommit({
      ...{ id, bucket: bucketOf(id), fence, status: 'suspended', startedAt: Date.now() },
      state: { action: 'store', snapshot: '{}', calls: 1 },
      timers: [{ kind: 'timer', call: 1, delayMs: DAY_MS - 1_000 }],
    });
    await commitWork(link, { workerId: 'worker', tasks: [], turns: [turn], claims: ['claim'], optimistic: true });
    expect(await moveDue(link)).toMatchObject({ moved: 0 });

    await tomorrow();
    expect(await moveDue(link)).toMatchObject({ moved: 1, queues: ['q'] });
    expect(await rows('SELECT kind, call FROM rhythm.inbox WHERE execution_id = $1', [id])).toEqual([{ kind: 'timer', call: 1 }]);
  });

  it('dates starts, signals and claims, and counts delays', async () => {
    await tomorrow();
    const id = await start({ delayMs: DAY_MS });
    await sendSignals(link, [{ executionId: id, name: 'go' }]);
    expect(daysAhead((await getExecution(store.db, id))!.createdAt)).toBe(1);
    const [{ due }] = await rows<{ due: Date }>('SELECT due_at AS due FROM rhythm.scheduled_queue WHERE execution_id = $1', [id]);
    expect(daysAhead(due)).toBe(2);
    const [{ sent }] = await rows<{ sent: Date }>('SELECT created_at AS sent FROM rhythm.signals WHERE execution_id = $1', [id]);
    expect(daysAhead(sent)).toBe(1);
    expect(daysAhead((await claimWork(link, 'worker', newId(), ['q'], 10)).now)).toBe(1);
    const { nextInMs } = await moveDue(link);
    expect(nextInMs).toBeGreaterThan(DAY_MS - 60_000);
    expect(nextInMs).toBeLessThanOrEqual(DAY_MS);
  });

  it('gives each row of one statement a time of its own', async () => {
    const ids = Array.from({ length: 50 }, newId);
    await insertExecutions(
      link,
      ids.map((id) => ({ id, fresh: true, type: 'task', targetName: 't', queue: 'many' })),
    );
    const [{ times }] = await rows<{ times: number }>(
      `SELECT count(DISTINCT created_at)::integer AS times FROM rhythm.executions WHERE queue = 'many'`,
    );
    expect(times).toBeGreaterThan(1);
  });

  it('does not move heartbeats', async () => {
    await tomorrow();
    await registerWorker(link, {
      ...{ workerId: 'beating', host: 'h', pid: 1, queues: ['q'], tasks: [], concurrency: 1, codeVersion: '1' },
    });
    await writeHeartbeat(link, 'beating');
    const [times] = await rows<{ started: Date; beat: Date }>(
      `SELECT started_at AS started, beat_at AS beat FROM rhythm.worker_heartbeats WHERE worker_id = 'beating'`,
    );
    expect([daysAhead(times.started), daysAhead(times.beat)]).toEqual([0, 0]);
  });
});
