// `npm run bench:attacks`: what hostile flows do to a worker with default settings and to the runs beside them, one at a time and 20 at once.

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../libs/embedded/index.js';
import { compile, saveProgram } from '../../libs/flow/index.js';
import { insertExecutions, newId, Store, sql, upsertDefinitions } from '../../libs/store/index.js';
import { HOSTILE, NEIGHBOUR } from './hostile-flows.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string' }, part: { type: 'string', default: '1/1' }, seconds: { type: 'string', default: '2' } },
});
const WINDOW_MS = Number(values.seconds) * 1000;
const AT_ONCE = 20;
// A neighbour every so often.
const EVERY_MS = 8;
const LATEST_MS = 60_000;
const BOUNDS = { held: 50, rss: 300, times: 2, more: 10 };
const WORKER = fileURLToPath(new URL('attacks-worker.mjs', import.meta.url));
// As docs/configuration.md advises: with a larger one, V8 lets garbage grow to several times what is alive.
const HEAP = ['--max-old-space-size=1024'];
const REGISTER = new URL('../../scripts/register-typescript.mjs', import.meta.url).href;

const named = Object.entries(HOSTILE).filter(([name]) => !values.only || values.only.split(';').some((part) => name.includes(part)));
const [part, parts] = values.part.split('/').map(Number);
const chosen = named.filter((_, at) => Math.floor((at * parts) / named.length) === part - 1);
if (chosen.length === 0) throw new Error(`No flow is named like "${values.only}". There are: ${Object.keys(HOSTILE).join('; ')}.`);

const server = await startEmbedded({ durable: true });
const store = await Store.open({ url: server.url });
try {
  const rows = [];
  for (const [name, source] of chosen) rows.push(...(await attack(name, source)));
  console.table(rows);
  const over = rows.filter((row) => row.bounds !== 'kept');
  console.log(
    over.length === 0
      ? 'Every row is within the bounds.'
      : `${over.length} of ${rows.length} rows are above the bounds: ${over.map((row) => `${row.flow} (${row['at once']})`).join('; ')}`,
  );
} finally {
  await store.close();
  await server.stop();
}

async function attack(name, source) {
  const flows = { neighbour: await publish('neighbour', NEIGHBOUR), hostile: await publish('hostile', source) };
  const child = fork(WORKER, [], { execArgv: [...HEAP, '--import', REGISTER] });
  child.send({ url: server.url, flows: Object.values(flows) });
  const worker = { child, exited: once(child, 'exit'), isAlive: true };
  void worker.exited.then(() => {
    worker.isAlive = false;
  });
  await Promise.race([once(child, 'message'), worker.exited]);
  const rows = [];
  try {
    // The worker warms up, with the hostile flow too: what is compared is a worker that has been running for a while.
    const idle = await during(worker, flows, 0, WINDOW_MS);
    await during(worker, flows, 1, WINDOW_MS);
    await ended(worker);
    const calm = await during(worker, flows, 0, 2 * WINDOW_MS);
    for (const atOnce of [1, AT_ONCE]) {
      const found = await during(worker, flows, atOnce, WINDOW_MS);
      rows.push(rowOf(name, atOnce, found, calm, idle));
      console.log(JSON.stringify(rows.at(-1)));
      if (!worker.isAlive) break;
    }
  } finally {
    child.kill('SIGKILL');
    await worker.exited;
    await empty();
  }
  return rows;
}

/** Starts neighbours evenly while this many hostile runs are kept going, and waits for the neighbours to end. */
async function during(worker, flows, atOnce, ms) {
  await measured(worker);
  const [{ window }] = await query('SELECT rhythm.clock()::text AS window');
  const until = performance.now() + ms;
  let isOver = false;
  const attacking = atOnce > 0 ? keepGoing(flows.hostile, atOnce, () => isOver || !worker.isAlive) : undefined;
  const starts = [];
  for (let next = performance.now(); next < until; next += EVERY_MS) {
    await pause(Math.max(0, next - performance.now()));
    starts.push(start(flows.neighbour, ['neighbour']));
  }
  await Promise.all(starts);
  // Latencies are those of neighbours that have ended; one that has not ended after this time counts with it.
  for (const latest = performance.now() + LATEST_MS; worker.isAlive && performance.now() < latest; await pause(20)) {
    if ((await latencies(window)).open === 0) break;
  }
  isOver = true;
  const outcomes = await attacking;
  const { p50, p99, open } = await latencies(window);
  const found = { p50, p99: open > 0 ? Number.POSITIVE_INFINITY : p99, outcomes, ...(await measured(worker)) };
  return found;
}

async function keepGoing(flow, atOnce, isOver) {
  for (; !isOver(); await pause(20)) {
    const [{ open }] = await query(
      `SELECT count(*)::integer AS open FROM rhythm.executions WHERE target_name = 'hostile' AND finished_at IS NULL`,
    );
    if (open < atOnce)
      await start(
        flow,
        Array.from({ length: atOnce - open }, () => undefined),
      );
  }
  const rows = await query(
    `SELECT coalesce(error->>'code', error->>'name', status) AS outcome, count(*)::integer AS n FROM rhythm.executions WHERE target_name = 'hostile' GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ outcome, n }) => [outcome, n]));
}

/** Waits for the end of what is under way; what waits by itself is dropped. */
async function ended(worker) {
  for (const latest = performance.now() + LATEST_MS; worker.isAlive && performance.now() < latest; await pause(20)) {
    const [{ open }] = await query(`SELECT count(*)::integer AS open FROM rhythm.executions WHERE finished_at IS NULL`);
    if (open === 0) return;
  }
}

/** How long the event loop was held and how large the process was since the last call; without end for one that has died. */
async function measured({ child, exited, isAlive }) {
  const died = { held: Number.POSITIVE_INFINITY, rss: Number.POSITIVE_INFINITY };
  if (!isAlive) return died;
  const reply = new Promise((resolve) => child.once('message', resolve));
  child.send('report');
  return Promise.race([reply, exited.then(() => died)]);
}

function rowOf(name, atOnce, found, calm, idle) {
  const megabytes = (found.rss - idle.rss) / 1e6;
  const isKept =
    found.held <= BOUNDS.held && megabytes <= BOUNDS.rss && found.p99 <= Math.max(BOUNDS.times * calm.p99, calm.p99 + BOUNDS.more);
  return {
    flow: name,
    'at once': atOnce,
    worker: Number.isFinite(found.held) ? 'alive' : 'died',
    'held ms': `${Math.round(calm.held)} → ${Math.round(found.held)}`,
    'MB above idle': Math.round(megabytes),
    'neighbours p50 ms': `${calm.p50.toFixed(1)} → ${found.p50.toFixed(1)}`,
    'p99 ms': `${calm.p99.toFixed(1)} → ${found.p99.toFixed(1)}`,
    ends: Object.entries(found.outcomes)
      .map(([outcome, n]) => `${outcome} ${n}`)
      .join(', '),
    bounds: isKept ? 'kept' : 'ABOVE',
  };
}

/** The milliseconds between start and end of the runs of a window, by the clock of the database. */
async function latencies(window) {
  const [row] = await query(
    `SELECT count(*) FILTER (WHERE finished_at IS NULL)::integer AS open,
      coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at) * 1000), 0)::float8 AS p50,
      coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at) * 1000), 0)::float8 AS p99
    FROM rhythm.executions WHERE target_name = 'neighbour' AND created_at >= $1::timestamptz`,
    [window],
  );
  return row;
}

async function publish(name, source) {
  const program = compile(source, { file: `${name}.flow` });
  const version = createHash('sha256').update(source).digest('hex');
  const definition = {
    name,
    version,
    source,
    file: `${name}.flow`,
    fingerprint: program.fingerprint,
    program: saveProgram(program),
    allow: {},
  };
  await upsertDefinitions(store.db, [definition]);
  return { name, version, source };
}

async function start({ name, version }, inputs) {
  const rows = inputs.map((input) => ({
    id: newId(),
    type: 'workflow',
    targetName: name,
    queue: 'default',
    version,
    input: JSON.stringify(input),
  }));
  await insertExecutions(store.db, rows);
  store.hints.hint('work', 'default');
}

function query(text, given = []) {
  return store.db.rows(sql('bench_attacks', text), given);
}

async function empty() {
  const tables = await query(
    `SELECT 'rhythm.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'rhythm' AND tablename NOT IN ('migrations', 'schema_info')`,
  );
  await query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
}
