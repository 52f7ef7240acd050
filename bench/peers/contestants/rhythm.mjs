// Rhythm as an application uses it: RhythmModule in a Nest application, tasks as methods, workflows as flows.

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { Link, Store } from '../../../dist/esm/libs/store/index.js';
import { ExecutionService, RhythmModule, Task } from '../../../dist/esm/src/index.js';
import { PAYLOAD } from '../payload.mjs';
import { LOOKED_UP, UNFINISHED, UNFINISHED_RUNS } from './backlog.mjs';
import { inLanes } from './lanes.mjs';

export const about = {
  name: 'Rhythm',
  store: 'postgres',
  settings:
    'defaults except worker.concurrency; bulk with startMany in 2 lanes of 1,000, single with start (concurrent starts share a ' +
    'statement); a pool of 20 connections for the client, 10 per worker',
  can: [
    'bulk',
    'single',
    'drain',
    'pickup',
    'steps5',
    'steps20',
    'parallel10',
    'sleepers',
    'loop',
    'fanout',
    'contend',
    'prefill',
    'idle',
    'paced',
    'millionSteps',
  ],
};

const LOOP = Number(process.env.BENCH_LOOP ?? 10_000);
const FANOUT = Number(process.env.BENCH_FANOUT ?? 10_000);

const steps = (count) => `for (let n = 0; n < ${count}; n++) await Task.run('noop', Inputs)\nreturn { ok: true }\n`;
const parallel = (count) => `await Promise.all(Array.from({ length: ${count} }, () => Task.run('noop', Inputs)))\nreturn { ok: true }\n`;
const FLOWS = {
  steps5: steps(5),
  steps20: steps(20),
  parallel10: parallel(10),
  sleepers: `await Timer.sleep('1s')\nreturn { ok: true }\n`,
  loop: steps(LOOP),
  fanout: parallel(FANOUT),
};

export async function prepare(url) {
  await (await Store.open({ url })).close();
}

async function boot(url, settings, tasks) {
  class BenchModule {}
  const rhythm = RhythmModule.forRoot({
    database: { url, ...settings.database },
    role: settings.role,
    worker: settings.worker,
    flows: Object.entries(FLOWS).map(([name, source]) => ({ name, source })),
    externalTasks: ['*'],
  });
  const module = { module: BenchModule, imports: [rhythm], providers: [tasks] };
  return NestFactory.createApplicationContext(module, { logger: ['warn', 'error'], abortOnError: false });
}

// @Task(name) on each method, without TypeScript.
function tasksOf(methods) {
  class BenchTasks {}
  for (const [name, method] of Object.entries(methods)) {
    Object.defineProperty(BenchTasks.prototype, name, { value: method, writable: true, configurable: true });
    Task(name)(BenchTasks.prototype, name, Object.getOwnPropertyDescriptor(BenchTasks.prototype, name));
  }
  return BenchTasks;
}

export async function openClient(url) {
  const app = await boot(url, { role: 'api', database: { maxConnections: 20 } }, class {});
  const executions = app.get(ExecutionService);
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  const many = async (count, request) => {
    const started = [];
    await inLanes(count, async (size) => {
      started.push(...(await executions.startMany(Array.from({ length: size }, () => request))));
    });
    return started.map(({ id }) => id);
  };
  const runs = new UnfinishedRuns(reader);
  return {
    bulk: (count, payload) => many(count, { name: 'noop', input: payload, options: { type: 'task' } }),
    single: (payload) => executions.start('noop', payload, { type: 'task' }),
    pickup: (at) => executions.start('pickup', { at }, { type: 'task' }),
    workflows: async (kind, count) => runs.add(await many(count, { name: kind, input: PAYLOAD })),
    unfinished: async (kind) => (kind in FLOWS ? runs.count() : (await reader.query(UNFINISHED)).rows[0].n),
    async close() {
      await reader.end();
      await app.close();
    },
  };
}

// The runs of this client that have not ended. They end about in the order in which they were started, so the oldest are looked up
// first, and further ones only while most of those have ended.
class UnfinishedRuns {
  constructor(reader) {
    this.reader = reader;
    this.ids = [];
  }

  add(ids) {
    this.ids.push(...ids);
  }

  async count() {
    for (let from = 0; from < this.ids.length; ) {
      const oldest = this.ids.slice(from, from + LOOKED_UP);
      const { rows } = await this.reader.query({ name: 'unfinished_runs', text: UNFINISHED_RUNS, values: [oldest] });
      this.ids.splice(from, oldest.length, ...rows.map(({ id }) => id));
      if (rows.length > oldest.length / 2) break;
      from += rows.length;
    }
    return this.ids.length;
  }
}

export async function openWorker(url, { concurrency, onNoop, onPickup }) {
  const tasks = tasksOf({
    noop() {
      onNoop();
      return { ok: true };
    },
    pickup({ at }) {
      onPickup(at);
    },
  });
  const app = await boot(url, { role: 'worker', worker: { concurrency }, database: { maxConnections: 10, minConnections: 0 } }, tasks);
  return { close: () => app.close() };
}

// The duration of claims that were not empty, as the worker sees it.
const claims = [];
export const gauges = () => ({ claimMs: claims });
const { rows } = Link.prototype;
Link.prototype.rows = async function timed(statement, values) {
  if (!statement.name.startsWith('rhythm_claim_work')) return rows.call(this, statement, values);
  const startedAt = performance.now();
  const found = await rows.call(this, statement, values);
  if (found.length > 1) claims.push(performance.now() - startedAt);
  return found;
};

export { hold, prefill } from './backlog.mjs';
