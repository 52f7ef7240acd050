// `npm run bench:replica`: what a read replica is good for: how far behind its lists are, and what listing from it spares a drain.

import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { ExecutionService, RhythmModule, startEmbedded } from '../../dist/esm/src/index.js';
import { Actor } from '../peers/stage.mjs';
import { SERVER_SETTINGS } from '../peers/venue.mjs';
import { PAYLOAD } from '../peers/workloads.mjs';

const ROUNDS = 3;
const TASKS = 60_000;
const STARTS = 300;
const READERS = 8;
const PATIENCE_MS = 30_000;
const SETTINGS = { ...SERVER_SETTINGS, wal_level: 'replica', max_wal_senders: '4', wal_keep_size: '1GB' };

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const heard = async (thread) => (await once(thread, 'message'))[0];
const at = (numbers, share) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * share)];

if (isMainThread) await main();
else await serveReaders(workerData);

// What was opened last is closed first. After Ctrl-C, or if this process is killed, the keepers of the two servers end them
// and remove their folder, and the processes of `Actor` go when they are left alone.
async function main() {
  const closings = [];
  try {
    await measure(await open((closing) => closings.unshift(closing)));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  for (const closing of closings) await closing().catch(console.error);
  process.exit();
}

async function measure(place) {
  await visible(place, (n) => n < STARTS / 3);
  const idle = await visible(place, (n) => n < 2 * STARTS);
  const busy = { primary: [], replica: [] };
  const drains = { none: [], primary: [], replica: [] };
  for (let round = 1; round <= ROUNDS; round++) {
    // The first of a round warms the server up for the other three, which are compared.
    const { answer } = await drain(place, 'none', (going) => visible(place, going));
    for (const from of Object.keys(busy)) busy[from].push(...answer[from]);
    for (const from of Object.keys(drains)) drains[from].push(await drain(place, from));
    const rates = Object.entries(drains).map(([from, runs]) => `${from} ${Math.round(runs.at(-1).perSecond)}`);
    console.log(`round ${round}, tasks per second by where the readers are: ${rates.join(', ')}`);
  }
  console.table([...shown('idle', idle), ...shown('in a drain', busy)]);
  console.table(Object.entries(drains).map(([from, runs]) => summary(from, runs, drains.none)));
}

async function open(onClose) {
  // As on a machine each: what the drain needs has one core, what follows and reads has the other.
  if (!(onCore(1) && onCore(0))) console.log('No taskset, or no second core: the servers share the CPU, and a replica spares less.');
  const primary = await startEmbedded({ durable: true, settings: SETTINGS });
  onClose(() => primary.stop());
  // The client sees when the drain has ended; beside the readers it would see that late.
  const client = await Actor.start('rhythm');
  onClose(() => client.end());
  onCore(1);
  const admin = await connect(primary.url, onClose);
  const standby = await startStandby(admin, primary.url);
  onClose(() => standby.stop());
  await untilTrue(admin, `SELECT count(*) = 1 AS yes FROM pg_stat_replication WHERE state = 'streaming'`);
  await client.call('prepare', primary.url);
  await client.call('openClient', primary.url);
  const place = { url: primary.url, admin, follower: await connect(standby.url, onClose), client, services: {}, readers: {} };
  await caughtUp(place);
  for (const [from, readUrl] of Object.entries({ primary: undefined, replica: standby.url })) {
    const app = await boot({ url: primary.url, readUrl });
    onClose(() => app.close());
    place.services[from] = app.get(ExecutionService);
    place.readers[from] = new Worker(new URL(import.meta.url), { workerData: { url: primary.url, readUrl } });
    await heard(place.readers[from]);
  }
  return place;
}

/** Binds this process, and what it starts from now on, to one core; false where that cannot be done. */
function onCore(core) {
  return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(process.pid)]).status === 0;
}

/** A copy of the running primary, in its throwaway folder: PostgreSQL's user can get there, and it is removed with it. */
async function startStandby(admin, url) {
  const data = (await admin.query('SHOW data_directory')).rows[0].data_directory;
  const home = join(dirname(data), 'standby');
  const copy = join(home, 'data');
  mkdirSync(home);
  chmodSync(home, 0o711);
  await admin.query(`SELECT pg_backup_start('standby', true)`);
  // Without the WAL, which comes over the wire.
  cpSync(data, copy, { recursive: true, filter: (from) => !/(postmaster\.(pid|opts)|pg_wal[\\/].+)$/.test(from) });
  const { rows } = await admin.query('SELECT labelfile FROM pg_backup_stop(false)');
  writeFileSync(join(copy, 'backup_label'), rows[0].labelfile);
  writeFileSync(join(copy, 'standby.signal'), '');
  appendFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${url}'\n`);
  const { uid, gid } = statSync(data);
  for (const name of ['', ...readdirSync(copy, { recursive: true })]) chownSync(join(copy, name), uid, gid);
  // The users are copied too: the standby's password is the primary's.
  writeFileSync(join(home, 'password'), new URL(url).password, { mode: 0o600 });
  const late = pause(PATIENCE_MS).then(() => {
    throw new Error(`The standby did not come up. Its log ends with:\n${readFileSync(join(home, 'server.log'), 'utf8').slice(-2_000)}`);
  });
  return Promise.race([startEmbedded({ durable: true, dataDir: home, settings: SETTINGS }), late]);
}

async function connect(url, onClose) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onClose(() => client.end());
  return client;
}

async function untilTrue(client, question, values) {
  for (const late = Date.now() + PATIENCE_MS; Date.now() < late; await pause(5)) {
    if ((await client.query(question, values)).rows[0].yes) return;
  }
  throw new Error(`The standby does not follow the primary: after ${PATIENCE_MS / 1000} s this is still false: ${question}`);
}

async function caughtUp({ admin, follower }) {
  const { lsn } = (await admin.query('SELECT pg_current_wal_lsn() AS lsn')).rows[0];
  await untilTrue(follower, 'SELECT pg_last_wal_replay_lsn() >= $1 AS yes', [lsn]);
}

function boot(database) {
  const rhythm = RhythmModule.forRoot({ database: { ...database, maxConnections: READERS + 2 }, role: 'api', externalTasks: ['*'] });
  return NestFactory.createApplicationContext(rhythm, { logger: ['warn', 'error'], abortOnError: false });
}

// In a thread of their own, told when to begin and when to stop; the answer is how many lists they got per second.
async function serveReaders(database) {
  const executions = (await boot(database)).get(ExecutionService);
  let reading = false;
  parentPort.on('message', async (word) => {
    reading = word === 'read';
    if (!reading) return;
    const began = performance.now();
    let lists = 0;
    const read = async () => {
      for (; reading; lists++) await executions.list();
    };
    await Promise.all(Array.from({ length: READERS }, read));
    parentPort.postMessage((lists * 1_000) / (performance.now() - began));
  });
  parentPort.postMessage('ready');
}

/** From the moment a start has resolved to the answer of the first list that shows it; by turns from the primary and the replica. */
async function visible({ services }, going) {
  const seen = { primary: [], replica: [] };
  for (let n = 0; going(n); n++) {
    const from = n % 2 === 0 ? 'primary' : 'replica';
    // In a queue that nobody serves, so that only the start itself is measured.
    const { id } = await services[from].start('noop', PAYLOAD, { type: 'task', queue: 'nobody' });
    const began = performance.now();
    while (!(await services[from].list()).items.some((item) => item.id === id));
    seen[from].push(performance.now() - began);
    await pause(n % 7);
  }
  return seen;
}

/** A full queue and a new worker, as in the other benchmarks, while somebody reads or something else is measured. */
async function drain({ url, admin, follower, client, readers }, from, meanwhile) {
  // The first page is of single starts, as in life.
  await client.call('bulk', TASKS - 200, PAYLOAD);
  await client.call('single', 200, 4, PAYLOAD);
  await admin.query('CHECKPOINT');
  await caughtUp({ admin, follower });
  onCore(0);
  const worker = await Actor.start('rhythm');
  onCore(1);
  try {
    readers[from]?.postMessage('read');
    await worker.call('openWorkers', url, { concurrency: 500 });
    let going = true;
    const done = client.call('untilDone', 'noop').finally(() => {
      going = false;
    });
    const [until, lags, answer] = await Promise.all([done, replayLags(admin, () => going), meanwhile?.(() => going)]);
    readers[from]?.postMessage('stop');
    const lists = readers[from] ? await heard(readers[from]) : 0;
    const { first } = await worker.call('seen');
    return { perSecond: (TASKS * 1e9) / Number(BigInt(until) - BigInt(first)), lags, lists, answer };
  } finally {
    await worker.end();
  }
}

async function replayLags(admin, going) {
  const lags = [];
  for (; going(); await pause(20)) {
    const { rows } = await admin.query('SELECT extract(epoch FROM replay_lag)::float8 * 1000 AS ms FROM pg_stat_replication');
    if (rows.length === 0) throw new Error('The standby lost its connection to the primary in the middle of a drain.');
    if (rows[0].ms !== null) lags.push(rows[0].ms);
  }
  return lags;
}

function shown(when, seen) {
  return Object.entries(seen).map(([from, times]) => ({
    'until a list shows a start': `${when}, list from the ${from}`,
    starts: times.length,
    'p50 ms': at(times, 0.5).toFixed(1),
    'p99 ms': at(times, 0.99).toFixed(1),
  }));
}

function summary(from, runs, undisturbed) {
  const column = (list, key) => list.map((run) => run[key]);
  const median = (list, key) => at(column(list, key), 0.5);
  const lags = column(runs, 'lags').flat();
  return {
    'a drain': from === 'none' ? 'nobody reads' : `${READERS} readers on the ${from}`,
    'tasks/s': Math.round(median(runs, 'perSecond')),
    ratio: (median(runs, 'perSecond') / median(undisturbed, 'perSecond')).toFixed(2),
    'lists/s': Math.round(median(runs, 'lists')),
    'replay lag p50 ms': at(lags, 0.5).toFixed(1),
    'p99 ms': at(lags, 0.99).toFixed(1),
  };
}
