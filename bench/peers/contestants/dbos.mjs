// DBOS as a contestant: workflows on queues, enqueued by a client process and run by worker processes.

import { randomUUID } from 'node:crypto';
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { enqueueWorkflows, prepareEnqueuedWorkflow } from '@dbos-inc/dbos-sdk/eventreceiver';
import pg from 'pg';
import { PAYLOAD } from '../payload.mjs';
import { inLanes } from './lanes.mjs';

export const about = {
  name: 'DBOS',
  package: '@dbos-inc/dbos-sdk',
  store: 'postgres',
  settings:
    'a job is a workflow without steps; bulk and starts with enqueueWorkflows, the batch call of its event receivers, in 2 lanes of 1,000; ' +
    'single with DBOSClient.enqueue; a queue with workerConcurrency, polled every millisecond, and one without limit for sleepers, polled ' +
    'every 20 ms; steps with DBOS.runStep, parallel ones and the fan-out with Promise.all; plain JSON as serializer; no logging, no ' +
    'tracing; 20 connections for the client, 20 per worker',
  can: ['bulk', 'single', 'drain', 'pickup', 'steps5', 'steps20', 'parallel10', 'sleepers', 'loop', 'fanout'],
};

const LOOP = Number(process.env.BENCH_LOOP ?? 10_000);
const FANOUT = Number(process.env.BENCH_FANOUT ?? 10_000);
const CONNECTIONS = 20;
const APPLICATION = 'bench';

// A sleeping workflow counts towards the concurrency of its queue, so sleepers have a queue without a limit.
const JOBS = { name: 'jobs', options: { minPollingIntervalMs: 1 } };
const SLEEPERS = { name: 'sleepers', options: { minPollingIntervalMs: 20 } };
const queueOf = (kind) => (kind === 'sleepers' ? SLEEPERS.name : JOBS.name);

const silence = () => undefined;
const logger = { debug: silence, info: silence, warn: silence, error: (entry) => console.error(entry) };
// Cheaper than its own, which preserves values that JSON cannot.
const serializer = {
  name: () => 'plain_json',
  stringify: (value) => JSON.stringify(value ?? null),
  parse: (text) => (text == null ? null : JSON.parse(text)),
};

// Workflows are registered once per process, before the callbacks are known.
let report = { onNoop: silence, onPickup: silence };

const noop = async () => {
  report.onNoop();
  return { ok: true };
};
const step = () => DBOS.runStep(noop, { name: 'noop' });
const sequence = (count) => async () => {
  for (let n = 0; n < count; n++) await step();
  return { ok: true };
};
const parallel = (count) => async () => {
  await Promise.all(Array.from({ length: count }, step));
  return { ok: true };
};
const WORKFLOWS = {
  noop,
  async pickup({ at }) {
    report.onPickup(at);
    return { ok: true };
  },
  steps5: sequence(5),
  steps20: sequence(20),
  parallel10: parallel(10),
  async sleepers() {
    await DBOS.sleep(1_000);
    return { ok: true };
  },
  loop: sequence(LOOP),
  fanout: parallel(FANOUT),
};
const registered = Object.fromEntries(
  Object.entries(WORKFLOWS).map(([name, workflow]) => [name, DBOS.registerWorkflow(workflow, { name })]),
);

// Uses a partial index of DBOS.
const UNFINISHED = `SELECT count(*)::integer AS n FROM dbos.workflow_status
  WHERE queue_name = $1 AND status IN ('ENQUEUED', 'PENDING') AND name = $2`;

export async function prepare(url) {
  await DBOS.migrate(url);
}

async function launch(url, settings) {
  if (DBOS.isInitialized()) throw new Error('DBOS can be launched once per process: one client or one worker.');
  DBOS.setConfig({
    ...{ name: APPLICATION, applicationVersion: '1', systemDatabaseUrl: url, runMigrations: false, logger, serializer },
    ...settings,
  });
  await DBOS.launch();
}

const connect = (url, systemDatabasePoolSize) =>
  DBOSClient.create({ systemDatabaseUrl: url, systemDatabasePoolSize, applicationName: APPLICATION, logger, serializer });

export async function openClient(url) {
  // The batch call needs a launched DBOS; this one listens to no queue and runs no workflows.
  await launch(url, { executorID: `client-${process.pid}`, listenQueues: [], systemDatabasePoolSize: 4 });
  const client = await connect(url, CONNECTIONS);
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  const enqueueMany = (kind, count, payload) =>
    inLanes(count, async (size) => {
      const make = () => prepareEnqueuedWorkflow(registered[kind], [payload], { queueName: queueOf(kind), workflowID: randomUUID() });
      await enqueueWorkflows(await Promise.all(Array.from({ length: size }, make)));
    });
  return {
    bulk: (count, payload) => enqueueMany('noop', count, payload),
    single: (payload) => client.enqueue({ queueName: JOBS.name, workflowName: 'noop' }, payload),
    pickup: (at) => client.enqueue({ queueName: JOBS.name, workflowName: 'pickup' }, { at }),
    workflows: (kind, count) => enqueueMany(kind, count, PAYLOAD),
    async unfinished(kind) {
      const { rows } = await reader.query({ name: 'bench_unfinished', text: UNFINISHED, values: [queueOf(kind), kind] });
      return rows[0].n;
    },
    async close() {
      await reader.end();
      await client.destroy();
      await DBOS.shutdown();
    },
  };
}

export async function openWorker(url, { concurrency, onNoop, onPickup }) {
  report = { onNoop, onPickup };
  // Before the launch, so that the queues are polled from the start.
  const client = await connect(url, 1);
  await client.registerQueue(JOBS.name, { ...JOBS.options, workerConcurrency: concurrency });
  await client.registerQueue(SLEEPERS.name, SLEEPERS.options);
  await client.destroy();
  // Each worker has its own name: DBOS treats running workflows of its own name as left by a crash and enqueues them again.
  await launch(url, { executorID: `worker-${process.pid}`, systemDatabasePoolSize: CONNECTIONS });
  return { close: () => DBOS.shutdown() };
}
