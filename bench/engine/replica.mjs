// `npm run bench:replica`: measures how far a read replica is behind, and how much faster a drain is when lists are read from it.

import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { ExecutionService, RhythmModule, startEmbedded } from '../../dist/esm/src/index.js';
import { ContestantProcess, contestantFile } from '../peers/contestant-process.mjs';
import { PAYLOAD } from '../peers/payload.mjs';
import { SERVER_SETTINGS } from '../peers/servers.mjs';
import { median, percentile } from '../statistics.mjs';

const ROUNDS = 3;
const TASKS = 60_000;
const STARTS = 300;
const READERS = 8;
const TIMEOUT_MS = 30_000;
const SETTINGS = { ...SERVER_SETTINGS, wal_level: 'replica', max_wal_senders: '4', wal_keep_size: '1GB' };

const startRhythm = () => ContestantProcess.start(contestantFile('rhythm'));
const nextMessage = async (thread) => (await once(thread, 'message'))[0];

if (isMainThread) await main();
else await serveReaders(workerData);

// Closes in the reverse order of opening. After Ctrl-C, or if this process is killed, the keepers of the two servers stop them
// and remove their folder, and contestant processes end when their IPC channel closes.
async function main() {
  const closers = [];
  try {
    await measure(await open((close) => closers.unshift(close)));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  for (const close of closers) await close().catch(console.error);
  process.exit();
}

async function measure(setup) {
  await untilListed(setup, (n) => n < STARTS / 3);
  const idle = await untilListed(setup, (n) => n < 2 * STARTS);
  const busy = { primary: [], replica: [] };
  const drains = { none: [], primary: [], replica: [] };
  for (let round = 1; round <= ROUNDS; round++) {
    // The first drain of a round warms the server up for the other three, which are compared.
    const { listTimes } = await drain(setup, 'none', (isRunning) => untilListed(setup, isRunning));
    for (const from of Object.keys(busy)) busy[from].push(...listTimes[from]);
    for (const from of Object.keys(drains)) drains[from].push(await drain(setup, from));
    const rates = Object.entries(drains).map(([from, runs]) => `${from} ${Math.round(runs.at(-1).perSecond)}`);
    console.log(`round ${round}, tasks per second by where the readers are: ${rates.join(', ')}`);
  }
  console.table([...listRows('idle', idle), ...listRows('in a drain', busy)]);
  console.table(Object.entries(drains).map(([from, runs]) => drainRow(from, runs, drains.none)));
}

async function open(onClose) {
  // Simulates two machines: the drain has one core, the replica and the readers have the other.
  if (!(onCore(1) && onCore(0))) console.log('No taskset, or no second core: the servers share the CPU, so a replica helps less.');
  const primary = await startEmbedded({ durable: true, settings: SETTINGS });
  onClose(() => primary.stop());
  // The client detects the end of the drain; on the core of the readers it would be late.
  const client = await startRhythm();
  onClose(() => client.end());
  onCore(1);
  const admin = await connect(primary.url, onClose);
  const standby = await startStandby(admin, primary.url);
  onClose(() => standby.stop());
  await untilTrue(admin, `SELECT count(*) = 1 AS yes FROM pg_stat_replication WHERE state = 'streaming'`);
  await client.call('prepare', primary.url);
  await client.call('openClient', primary.url);
  const setup = { url: primary.url, admin, follower: await connect(standby.url, onClose), client, services: {}, readers: {} };
  await caughtUp(setup);
  for (const [from, readUrl] of Object.entries({ primary: undefined, replica: standby.url })) {
    const app = await boot({ url: primary.url, readUrl });
    onClose(() => app.close());
    setup.services[from] = app.get(ExecutionService);
    setup.readers[from] = new Worker(new URL(import.meta.url), { workerData: { url: primary.url, readUrl } });
    await nextMessage(setup.readers[from]);
  }
  return setup;
}

/** Binds this process, and processes that it starts from now on, to one core; false if that is not possible. */
function onCore(core) {
  return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(process.pid)]).status === 0;
}

/** Starts a copy of the running primary, in its temporary folder: PostgreSQL's user has access, and it is removed with it. */
async function startStandby(admin, url) {
  const data = (await admin.query('SHOW data_directory')).rows[0].data_directory;
  const home = join(dirname(data), 'standby');
  const copy = join(home, 'data');
  mkdirSync(home);
  chmodSync(home, 0o711);
  await admin.query(`SELECT pg_backup_start('standby', true)`);
  // Without the WAL, which is streamed.
  cpSync(data, copy, { recursive: true, filter: (from) => !/(postmaster\.(pid|opts)|pg_wal[\\/].+)$/.test(from) });
  const { rows } = await admin.query('SELECT labelfile FROM pg_backup_stop(false)');
  writeFileSync(join(copy, 'backup_label'), rows[0].labelfile);
  writeFileSync(join(copy, 'standby.signal'), '');
  appendFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${url}'\n`);
  const { uid, gid } = statSync(data);
  for (const name of ['', ...readdirSync(copy, { recursive: true })]) chownSync(join(copy, name), uid, gid);
  // The users are copied too, so the standby has the primary's password.
  writeFileSync(join(home, 'password'), new URL(url).password, { mode: 0o600 });
  const timeout = pause(TIMEOUT_MS).then(() => {
    throw new Error(`The standby did not start. Its log ends with:\n${readFileSync(join(home, 'server.log'), 'utf8').slice(-2_000)}`);
  });
  return Promise.race([startEmbedded({ durable: true, dataDir: home, settings: SETTINGS }), timeout]);
}

async function connect(url, onClose) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onClose(() => client.end());
  return client;
}

async function untilTrue(client, query, values) {
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await pause(5)) {
    if ((await client.query(query, values)).rows[0].yes) return;
  }
  throw new Error(`The standby does not follow the primary: after ${TIMEOUT_MS / 1000} s this is still false: ${query}`);
}

async function caughtUp({ admin, follower }) {
  const { lsn } = (await admin.query('SELECT pg_current_wal_lsn() AS lsn')).rows[0];
  await untilTrue(follower, 'SELECT pg_last_wal_replay_lsn() >= $1 AS yes', [lsn]);
}

function boot(database) {
  const rhythm = RhythmModule.forRoot({ database: { ...database, maxConnections: READERS + 2 }, role: 'api', externalTasks: ['*'] });
  return NestFactory.createApplicationContext(rhythm, { logger: ['warn', 'error'], abortOnError: false });
}

// In a separate thread, which is told when to read and when to stop, and then posts how many lists it read per second.
async function serveReaders(database) {
  const executions = (await boot(database)).get(ExecutionService);
  let reading = false;
  parentPort.on('message', async (command) => {
    reading = command === 'read';
    if (!reading) return;
    const startedAt = performance.now();
    let lists = 0;
    const read = async () => {
      for (; reading; lists++) await executions.list();
    };
    await Promise.all(Array.from({ length: READERS }, read));
    parentPort.postMessage((lists * 1_000) / (performance.now() - startedAt));
  });
  parentPort.postMessage('ready');
}

/** Times from the end of a start to the end of the first list that contains it; alternately from the primary and the replica. */
async function untilListed({ services }, isRunning) {
  const times = { primary: [], replica: [] };
  for (let n = 0; isRunning(n); n++) {
    const from = n % 2 === 0 ? 'primary' : 'replica';
    // In a queue that no worker serves, so that only the start itself is measured.
    const { id } = await services[from].start('noop', PAYLOAD, { type: 'task', queue: 'unserved' });
    const startedAt = performance.now();
    while (!(await services[from].list()).items.some((item) => item.id === id));
    times[from].push(performance.now() - startedAt);
    await pause(n % 7);
  }
  return times;
}

/** A full queue and a new worker, as in the other benchmarks, while the readers read or `meanwhile` runs. */
async function drain({ url, admin, follower, client, readers }, from, meanwhile) {
  // The first page of a list has single starts, as in production.
  await client.call('bulk', TASKS - 200, PAYLOAD);
  await client.call('single', 200, 4, PAYLOAD);
  await admin.query('CHECKPOINT');
  await caughtUp({ admin, follower });
  onCore(0);
  const worker = await startRhythm();
  onCore(1);
  try {
    readers[from]?.postMessage('read');
    await worker.call('openWorkers', url, { concurrency: 500 });
    let running = true;
    const done = client.call('untilDone', 'noop').finally(() => {
      running = false;
    });
    const [until, lags, listTimes] = await Promise.all([done, replayLags(admin, () => running), meanwhile?.(() => running)]);
    readers[from]?.postMessage('stop');
    const lists = readers[from] ? await nextMessage(readers[from]) : 0;
    const { firstAt } = await worker.call('counters');
    return { perSecond: (TASKS * 1e9) / Number(BigInt(until) - BigInt(firstAt)), lags, lists, listTimes };
  } finally {
    await worker.end();
  }
}

async function replayLags(admin, isRunning) {
  const lags = [];
  for (; isRunning(); await pause(20)) {
    const { rows } = await admin.query('SELECT extract(epoch FROM replay_lag)::float8 * 1000 AS ms FROM pg_stat_replication');
    if (rows.length === 0) throw new Error('The standby lost its connection to the primary during a drain.');
    if (rows[0].ms !== null) lags.push(rows[0].ms);
  }
  return lags;
}

function listRows(when, timesFrom) {
  return Object.entries(timesFrom).map(([from, times]) => ({
    'time until a list shows a start': `${when}, list from the ${from}`,
    starts: times.length,
    'p50 ms': percentile(times, 0.5).toFixed(1),
    'p99 ms': percentile(times, 0.99).toFixed(1),
  }));
}

function drainRow(from, runs, undisturbed) {
  const medianOf = (measured, key) => median(measured.map((run) => run[key]));
  const lags = runs.flatMap((run) => run.lags);
  return {
    drain: from === 'none' ? 'without readers' : `${READERS} readers on the ${from}`,
    'tasks/s': Math.round(medianOf(runs, 'perSecond')),
    ratio: (medianOf(runs, 'perSecond') / medianOf(undisturbed, 'perSecond')).toFixed(2),
    'lists/s': Math.round(medianOf(runs, 'lists')),
    'replay lag p50 ms': percentile(lags, 0.5).toFixed(1),
    'p99 ms': percentile(lags, 0.99).toFixed(1),
  };
}
