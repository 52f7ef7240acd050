// `rhythm bench` in both modes as real processes: the counts add up, the percentiles are ordered, and all rows are removed.

import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../support/index.js';
import { rhythm, startRhythm } from './spawn-cli.js';

const database = useTestDatabase();
let env: Record<string, string>;
beforeAll(async () => {
  env = { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema };
  expect(await rhythm(['migrate'], { env })).toMatchObject({ code: 0 });
});

const bench = (...args: string[]) => rhythm(['bench', ...args], { env });

interface Kind {
  completed: number;
  perSecond: number;
  overallPerSecond: number;
  latencyMs: { p50: number; p95: number; p99: number };
}

function expectKind(kind: Kind, total: number): void {
  expect(kind).toMatchObject({ total, completed: total, failed: 0, pending: 0 });
  expect(kind.perSecond).toBeGreaterThan(0);
  expect(kind.overallPerSecond).toBeGreaterThan(0);
  const { p50, p95, p99 } = kind.latencyMs;
  expect(p50).toBeGreaterThan(0);
  expect(p95).toBeGreaterThanOrEqual(p50);
  expect(p99).toBeGreaterThanOrEqual(p95);
}

/** Rows per table of the schema, without empty tables and those that migrations fill. */
async function leftovers(): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = $1 and tablename not in ('migrations', 'schema_info')`,
      [database.schema],
    );
    expect(tables.rows.length).toBeGreaterThan(10);
    const found: Record<string, number> = {};
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ n: number }>(`select count(*)::integer as n from "${database.schema}"."${name}"`);
      if (rows[0]!.n > 0) found[name] = rows[0]!.n;
    }
    return found;
  } finally {
    await client.end();
  }
}

describe('the baseline', () => {
  it('completes every task and workflow, and leaves no rows', async () => {
    const { code, out } = await bench('--tasks', '200', '--workflows', '20', '--concurrency', '50', '--batch', '20', '--json');
    const { data } = JSON.parse(out);
    expect({ code, mode: data.mode }).toEqual({ code: 0, mode: 'baseline' });
    expect(data.options).toMatchObject({ tasks: 200, workflows: 20, payloadSize: 100, concurrency: 50, batch: 20 });
    expectKind(data.tasks, 200);
    expectKind(data.workflows, 20);
    expect(await leftovers()).toEqual({});
  });

  it('counts what has not ended within the duration as pending', async () => {
    const slow = ['--concurrency', '10', '--batch', '10', '--work-delay-us', '100000', '--duration', '300ms'];
    const { code, out } = await bench('--tasks', '1000', ...slow, '--json');
    const { tasks } = JSON.parse(out).data;
    expect(code).toBe(0);
    expect(tasks.completed).toBeGreaterThan(0);
    expect(tasks.pending).toBeGreaterThan(0);
    expect(tasks.completed + tasks.pending).toBe(1_000);
    expect(await leftovers()).toEqual({});
  });

  it('shows its progress in a terminal, and removes its rows on Ctrl-C', async () => {
    const flags = ['--tasks', '1000', '--concurrency', '5', '--batch', '5', '--work-delay-us', '100000'];
    const running = startRhythm(['bench', ...flags], { env, columns: 100 });
    await running.prints(/bench {2}[█░]+ {2}\d+ of 1,000/);
    expect(await leftovers()).toMatchObject({ executions: 1_000, worker_heartbeats: 1 });
    running.type('\u0003');
    expect((await running.ended).code).toBe(130);
    expect(await leftovers()).toEqual({});
  });
});

describe('worker mode', () => {
  it('runs tasks and workflows in real processes over several queues, and leaves no rows', async () => {
    const { code, out, err } = await bench('worker', '--workers', '2', '--tasks', '200', '--workflows', '20', '--queues', 'a,b', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { data } = JSON.parse(out);
    expect(data.options).toMatchObject({ workers: 2, computeIterations: 0, queues: ['a', 'b'] });
    expectKind(data.tasks, 200);
    expectKind(data.workflows, 20);
    expect(await leftovers()).toEqual({});
  });

  it('prints the results of computing tasks in a table', async () => {
    const { code, out } = await bench('worker', '--workers', '1', '--tasks', '20', '--compute-iterations', '1000', '--payload-size', '2');
    expect(code).toBe(0);
    expect(out).toMatch(
      /PER SECOND +OVERALL +P50 +P95 +P99 +COMPLETED +FAILED +PENDING\ntasks +[\d,]+ +[\d,]+ +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms +20 +0 +0\n$/,
    );
  });

  it('stops its processes and removes their rows on Ctrl-C', async () => {
    const flags = ['--workers', '2', '--tasks', '2000', '--workflows', '2000', '--compute-iterations', '1000000'];
    const running = startRhythm(['bench', 'worker', ...flags], { env, columns: 100 });
    await running.prints(/bench worker {2}[█░]+ {2}\d+ of 4,000/);
    expect(await leftovers()).toMatchObject({ worker_heartbeats: 2, workflow_definitions: 1 });
    running.type('\u0003');
    expect((await running.ended).code).toBe(130);
    expect(await leftovers()).toEqual({});
  });
});

it('a mode that does not exist is refused, and the error names the others', async () => {
  expect(await bench('wroker')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/There is no mode "wroker". Use `rhythm bench` for the baseline or `rhythm bench worker`/),
  });
});
