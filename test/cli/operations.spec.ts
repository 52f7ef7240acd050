// Operating the sample shop from a terminal: migrate, worker, doctor, cleanup and shutdown; as real processes wherever an
// environment, a terminal, a signal or an unreachable server is involved.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { bucketOf } from '../../libs/store/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { callRhythm as cli } from './call-cli.js';
import { compiledPackage } from './compiled-package.js';
import { type CliOptions, type RunningCli, rhythm, startRhythm } from './spawn-cli.js';

const database = useTestDatabase();
let folder: string;
let env: Record<string, string>;
let silent: Server;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-operations-'));
  env = { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema, SHOP_DATABASE_URL: database.url };
  Object.assign(process.env, env);
  silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  silent.close();
});

const spawned = (args: string[], options: CliOptions = {}) => rhythm(args, { ...options, env: { ...env, ...options.env } });
const data = async (args: string[]) => JSON.parse((await cli([...args, '--json'])).out).data;

async function sql(text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

describe('a database that is not ready', () => {
  it.each([['list'], ['status'], ['start', 'order'], ['cleanup', '--older-than', '1d']])(
    'makes %j name the command to run',
    async (...args) => {
      expect(await cli(args)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/no Rhythm tables in schema "\w+". Run `npx rhythm migrate`/),
      });
    },
  );

  it('is reported by doctor, with what to do', async () => {
    const { code, out } = await cli(['doctor']);
    expect(code).toBe(1);
    expect(out).toMatch(/^ok +database: PostgreSQL \d+/m);
    expect(out).toMatch(/^broken +schema: there are no tables in schema "\w+"\n +Run: npx rhythm migrate/m);
    expect(out).toMatch(/1 problem, \d+ warnings?\./);
    expect(out).not.toContain(new URL(database.url).password);
  });

  it('is named within seconds if nothing listens there, or the server does not respond', async () => {
    const { port } = silent.address() as { port: number };
    const [refused, unresponsive, unknownHost, doctor] = await Promise.all([
      spawned(['list', '--database-url', 'postgres://ann:s3cret@127.0.0.1:1/app']),
      spawned(['list', '--database-url', `postgres://ann:s3cret@127.0.0.1:${port}/app`]),
      spawned(['list', '--database-url', 'postgres://ann:s3cret@no-such-host.invalid/app']),
      spawned(['doctor', '--database-url', 'postgres://ann:s3cret@127.0.0.1:1/app', '--json']),
    ]);
    expect(refused).toMatchObject({
      code: 3,
      err: expect.stringMatching(/at postgres:\/\/ann:\*\*\*@127\.0\.0\.1:1\/app: .*check that the server is running/),
    });
    expect(unresponsive).toMatchObject({ code: 3, err: expect.stringContaining(`127.0.0.1:${port}/app`) });
    expect(unknownHost).toMatchObject({ code: 3, err: expect.stringMatching(/no-such-host\.invalid.*host name is unknown/) });
    expect(doctor.code).toBe(3);
    expect(JSON.parse(doctor.out)).toEqual({
      ok: false,
      command: 'doctor',
      data: { findings: [{ check: 'database', state: 'broken', found: expect.any(String), advice: expect.any(String) }] },
    });
    expect(JSON.stringify([refused, unresponsive, unknownHost, doctor])).not.toContain('s3cret');
  });

  it.each([['migrate'], ['worker', 'dist/none.js'], ['start', 'order'], ['cleanup', '--older-than', '1d']])(
    'has an exit code of its own in %j',
    async (...args) => {
      const file = join(folder, 'app.mjs');
      const module = pathToFileURL(join(compiledPackage(), 'src/index.js')).href;
      writeFileSync(file, `import { RhythmModule } from '${module}';\nexport const root = RhythmModule.forRoot({ role: 'api' });\n`);
      const given = args.map((arg) => (arg === 'dist/none.js' ? file : arg));
      expect(await spawned([...given, '--database-url', 'postgres://ann@127.0.0.1:1/app'])).toMatchObject({
        code: 3,
        err: expect.stringContaining('check that the server is running'),
      });
    },
  );

  it('ends a waiting command at once on Ctrl-C', async () => {
    const { port } = silent.address() as { port: number };
    const connected = new Promise<void>((resolve) => silent.once('connection', () => resolve()));
    const list = startRhythm(['list', '--database-url', `postgres://ann@127.0.0.1:${port}/app`], { env });
    await connected;
    list.signal('SIGINT');
    expect(await list.ended).toMatchObject({ code: 130, out: '', err: '' });
  });
});

describe('an output that takes nothing', () => {
  it('is an error in one line, and exit code 1', async () => {
    if (!existsSync('/dev/full')) return console.warn('NOT TESTED: an output that takes nothing. There is no /dev/full here.');
    const main = join(compiledPackage(), 'src/cli/main.js');
    const { status, stderr } = spawnSync('sh', ['-c', `"${process.execPath}" "${main}" completion bash > /dev/full`], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^error: The output cannot be written: ENOSPC.*\n$/) });
  });
});

describe('rhythm doctor --config', () => {
  it('shows every setting with its value and where it comes from, passwords masked', async () => {
    const file = join(folder, 'own.toml');
    writeFileSync(file, '[worker]\nconcurrency = 7\n[database]\nmax_connections = 33\n');
    const url = 'postgres://ann:s3cret@db.example/app';
    const { code, out } = await spawned(['--config', file, '--database-url', url, 'doctor', '--config'], {
      env: { RHYTHM_WORKER_QUEUES: 'a,b' },
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^database\.url +postgres:\/\/ann:\*\*\*@db\.example\/app +database\.url in flags$/m);
    expect(out).toMatch(/^database\.maxConnections +33 +database\.max_connections in .*own\.toml$/m);
    expect(out).toMatch(/^worker\.concurrency +7 +worker\.concurrency in .*own\.toml$/m);
    expect(out).toMatch(/^worker\.queues +\["a","b"\] +RHYTHM_WORKER_QUEUES \(environment\)$/m);
    expect(out).toMatch(/^worker\.pollInterval +\S+ +default$/m);
    const { settings } = await data(['doctor', '--config']);
    expect(settings.map(({ path }: { path: string }) => path)).toEqual(expect.arrayContaining(ORIGINAL_KEYS));
  });

  it.each([
    [['list', '--config'], {}, /--config needs the path of a file/],
    [['list', '--config', 'gone.toml'], {}, /gone\.toml, named by .*--config.*does not exist/],
    [['list'], { RHYTHM_DATABASE_MAX_CONECTIONS: '3' }, /Did you mean "RHYTHM_DATABASE_MAX_CONNECTIONS"/],
    [['list', '--database-url', 'mysql://x'], {}, /does not start with "postgres:\/\/"/],
  ])('is not needed to find out that %j with %j is wrong', async (args, more, message) => {
    expect(await spawned(args, { env: more as Record<string, string> })).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });
});

describe('the shop', () => {
  const order = {
    customer: { email: 'kim@example.com', address: { city: 'Oslo' } },
    items: [{ sku: 'LAMP-3', price: 129.5, quantity: 1 }],
  };
  const input = (orderId: string) =>
    JSON.stringify({ ...order, orderId, policy: { approvalAbove: 100, approvalTimeout: '24h', reviewAfter: '50ms' } });
  let worker: RunningCli;

  it('is migrated, run, signalled and inspected by commands alone', async () => {
    expect(await spawned(['migrate'])).toMatchObject({ code: 0, out: expect.stringMatching(/^applied {2}Initial\d+\n$/) });
    worker = startRhythm(['worker', 'test/cli/fixtures/shop.module.ts', '--queues', 'default,mail', '--concurrency', '5'], {
      env: { ...env, NODE_OPTIONS: `--import ${pathToFileURL('scripts/register-typescript.mjs').href}` },
    });
    await worker.prints(/Worker ready, pid \d+/);
    expect(await data(['status'])).toMatchObject({ workers: [{ queues: ['default', 'mail'], concurrency: 5 }] });

    await sql(
      `insert into orders (id, customer, items) values ('shop-1', '${JSON.stringify(order.customer)}', '${JSON.stringify(order.items)}')`,
    );
    expect(await cli(['start', 'order', '--id', 'shop-1', '--input', input('shop-1')])).toMatchObject({ code: 0, out: 'shop-1\n' });
    await eventually(async () => expect((await cli(['show', 'shop-1'])).out).toMatch(/→ \d+ │ +const approval = await Signal\.when/));
    expect((await cli(['signal', 'shop-1', 'approval', '{"approved":true,"by":"ann"}'])).code).toBe(0);
    await eventually(async () => expect((await data(['show', 'shop-1'])).execution.status).toBe('completed'));
    const { out } = await cli(['show', 'shop-1']);
    expect(out).toMatch(/Called\n[\s\S]*├─ shipment {2}completed[^\n]*\n {2}│ {2}└─ print-label {2}completed/);
    expect((await cli(['doctor'])).out).toMatch(/^ok +workers: 1 alive[\s\S]*(No problems found|0 problems, 1 warning)\./m);
  }, 60_000);

  it('is listed, paused, resumed, cancelled, retried and rolled back by commands too', async () => {
    await cli(['start', 'order', '--id', 'shop-2', '--input', input('shop-2'), '--tag', 'second']);
    await eventually(async () => expect((await cli(['show', 'shop-2'])).out).toContain('signal "approval"'));
    expect((await cli(['list', '--name', 'order'])).out).toMatch(/shop-2 +order +suspended +workflow +default/);
    const narrow = (await spawned(['show', 'shop-2'], { columns: 60, env: { NO_COLOR: '1' } })).out.split(/\r?\n/);
    const body = narrow.slice(narrow.indexOf('Waits for'));
    expect(Math.max(...body.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect((await cli(['pause', 'shop-2'])).code).toBe(0);
    expect((await cli(['resume', 'shop-2'])).code).toBe(0);
    expect((await cli(['cancel', 'shop-2', '--reason', 'ordered twice'])).code).toBe(0);
    await eventually(async () => expect((await data(['show', 'shop-2'])).execution.status).toBe('cancelled'));

    const goods = JSON.stringify({ orderId: 'shop-3', items: [{ sku: 'GLOBE-1', price: 1, quantity: 1 }] });
    const failed = await cli(['start', 'reserve-stock', '--type', 'task', '--id', 'shop-3', '--input', goods, '--wait', '10s']);
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('GLOBE-1 is out of stock') });
    expect((await cli(['list', '--status', 'failed'])).out).toMatch(/shop-3 +reserve-stock +failed .*GLOBE-1 is out of stock/);
    await sql(`insert into stock (sku, available) values ('GLOBE-1', 3)`);
    expect((await cli(['retry', '--status', 'failed', '--since', '1h', '--yes'])).err).toMatch(/1 execution retried/);
    await eventually(async () => expect((await data(['show', 'shop-3'])).execution.status).toBe('completed'));

    const { versions } = await data(['activate', 'order']);
    expect((await cli(['activate', 'order', versions[0].version])).code).toBe(0);
    expect((await cli(['check', 'sample-app/flows'])).err).toBe('No errors in 2 files.\n');
    const forgotten = join(folder, 'forgotten.flow');
    writeFileSync(forgotten, 'Task.run("charge")');
    const checked = await cli(['check', forgotten]);
    expect(checked).toMatchObject({ code: 0, err: 'No errors in 1 file. 1 warning.\n' });
    expect(checked.out).toMatch(/forgotten\.flow:1:1 warning: Task\.run\(…\) is not awaited: .*\(FLOW_NOT_AWAITED\)/);
    const stubs = join(folder, 'stubs.json');
    writeFileSync(stubs, '{ "print-label": { "tracking": "OS-1" } }');
    const shipment = JSON.stringify({ orderId: 'o', address: { city: 'Oslo' }, parcels: 1 });
    const run = await cli(['run', 'sample-app/flows/shipment.flow', '--inputs', shipment, '--tasks', stubs, '--quiet']);
    expect(JSON.parse(run.out)).toEqual({ tracking: 'OS-1' });
  }, 60_000);

  it('finds an unserved queue', async () => {
    await cli(['start', 'send-mail', '--type', 'task', '--queue', 'attic', '--id', 'unserved']);
    const { code, out } = await cli(['doctor']);
    expect(code).toBe(1);
    expect(out).toMatch(/broken +queues: 1 execution waits in "attic", which no worker serves\n.*--queues attic/);
    expect((await cli(['cancel', 'unserved'])).code).toBe(0);
  });

  it('is cleaned up in batches that keep trees with unfinished executions', async () => {
    const { schema } = database;
    const long = `now() - interval '40 days'`;
    await sql(`update ${schema}.executions set created_at = ${long}, finished_at = ${long} where finished_at is not null`);
    // Of seven old runs the three oldest have a child that still waits: more than a batch of two.
    for (let n = 1; n <= 7; n++) {
      await sql(`insert into ${schema}.executions (fence, id, bucket, type, target_name, queue, status, created_at, finished_at)
        values (1, 'old-${n}', ${bucketOf(`old-${n}`)}, 'workflow', 'x', 'attic', 'completed', ${long} - interval '${9 - n} days', ${long})`);
    }
    for (let n = 1; n <= 3; n++) {
      await sql(`insert into ${schema}.executions (fence, id, bucket, type, target_name, queue, status, parent_id, parent_call)
        values (1, 'old-${n}:1', ${bucketOf(`old-${n}`)}, 'task', 'y', 'attic', 'pending', 'old-${n}', 1)`);
    }
    expect(await cli(['cleanup'])).toMatchObject({ code: 2, err: expect.stringContaining('--older-than') });
    expect(await cli(['cleanup', '--older-than', '30d', '--dry-run'])).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^10 executions that ended before/),
    });
    expect(await spawned(['cleanup', '--older-than', '30d'])).toMatchObject({ code: 2, err: expect.stringContaining('pass --yes') });
    expect(await data(['cleanup', '--older-than', '90d', '--yes'])).toEqual({ matched: 0, removed: 0, kept: 0, signals: 0 });
    await sql(`insert into ${schema}.signals (execution_id, bucket, seq, name, created_at)
      select 'nobody', ${bucketOf('nobody')}, -n, 'go', now() - interval '40 days' from generate_series(1, 3) n`);
    expect(await data(['cleanup', '--older-than', '30d', '--yes', '--batch', '2'])).toMatchObject({ matched: 10, kept: 3, signals: 3 });
    const left = await sql(`select id from ${schema}.executions where id like 'old-%' order by id`);
    expect(left.rows.map(({ id }) => id)).toEqual(['old-1', 'old-1:1', 'old-2', 'old-2:1', 'old-3', 'old-3:1']);
    expect((await sql(`select count(*)::int as n from ${schema}.executions where id like 'shop-1%'`)).rows).toEqual([{ n: 0 }]);
    expect(await cli(['show', 'shop-1'])).toMatchObject({ code: 1, err: expect.stringContaining('No execution has the id') });
  });

  it('can be interrupted while it is cleaned up, and cleaned up again', async () => {
    const { schema } = database;
    const ids = Array.from({ length: 2_000 }, (_, n) => `ancient-${n}`);
    await sql(
      `insert into ${schema}.executions (fence, id, bucket, type, target_name, queue, status, created_at, finished_at)
      select 1, id, bucket, 'task', 'x', 'attic', 'failed', now() - interval '80 days', now() - interval '70 days'
      from unnest(array['${ids.join("','")}'], array[${ids.map(bucketOf).join(',')}]) as d(id, bucket)`,
    );
    const left = async () =>
      (await sql(`select count(*)::int as n from ${schema}.executions where id like 'ancient-%'`)).rows[0].n as number;
    const cleanup = startRhythm(['cleanup', '--older-than', '60d', '--status', 'failed', '--batch', '1', '--yes'], { env, columns: 100 });
    await cleanup.prints(/cleanup {2}[█░]+ {2}\d+ of 2,000 {2}\d+%.* left/);
    cleanup.type('\u0003');
    expect((await cleanup.ended).code).toBe(130);
    const rest = await left();
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(2_000);
    expect(await data(['cleanup', '--older-than', '60d', '--status', 'failed', '--yes'])).toEqual({
      matched: rest,
      removed: rest,
      kept: 0,
      signals: 0,
    });
    expect(await left()).toBe(0);
  });

  it('stops its worker with SIGTERM, which gives back its work and deregisters', async () => {
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    expect(await data(['status'])).toMatchObject({ workers: [] });
    expect((await cli(['doctor'])).out).toMatch(/warning +workers: none is running\n.*npx rhythm worker/);
  });
});

describe('rhythm doctor', () => {
  it('reports a worker without heartbeats, a queue without progress, and a newer schema', async () => {
    const { schema } = database;
    await sql(`insert into ${schema}.worker_heartbeats (worker_id, host, pid, queues, tasks, concurrency, code_version, beat_at)
      values ('gone-1', 'h', 1, '{cellar}', '{y}', 1, '0.1.0', now() - interval '10 minutes')`);
    expect((await cli(['doctor'])).out).toMatch(
      /warning +workers: none is alive, 1 without a recent heartbeat\n +Nothing runs until you start one/,
    );
    await sql(`update ${schema}.worker_heartbeats set beat_at = now() + interval '1 hour'`);
    await sql(`insert into ${schema}.executions (fence, id, bucket, type, target_name, queue, created_at)
      values (1, 'stuck', ${bucketOf('stuck')}, 'task', 'x', 'cellar', now() - interval '3 hours')`);
    await sql(`insert into ${schema}.work_queue (queue, rank, seq, bucket, execution_id)
      values ('cellar', 0, nextval('${schema}.queue_seq'), ${bucketOf('stuck')}, 'stuck')`);
    expect((await cli(['doctor'])).out).toMatch(/warning +queues: "cellar" makes no progress: 1 waiting, the oldest for 3h, none running/);
    await sql(`update ${schema}.work_queue set lane = 't:x', fence = 1 where queue = 'cellar'`);
    expect((await cli(['doctor'])).out).toMatch(/broken +queues: 1 execution waits in "cellar" for task "x", which no running worker has/);
    expect(await data(['status'])).toMatchObject({ unserved: [{ queue: 'cellar', task: 'x', waiting: 1 }] });
    await sql(`update ${schema}.schema_info set version = 99, min_code_version = 99`);
    expect((await cli(['doctor'])).out).toMatch(/warning +schema: version 99, this package needs \d+\n.*update this one/);
    expect(await cli(['list'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/schema version 99 .*Update nestjs-rhythm in this process/),
    });
  });
});

// The settings that the original requirements name.
const ORIGINAL_KEYS = [
  'database.url',
  'database.maxConnections',
  'database.minConnections',
  'database.acquireTimeout',
  'database.idleTimeout',
  'database.maxLifetime',
  'worker.pollInterval',
  'worker.heartbeatInterval',
  'worker.deadAfter',
  'autoMigrate',
];
