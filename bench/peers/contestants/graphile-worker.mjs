// Graphile Worker as a contestant: jobs fetched into a local queue, completions written in batches.

import { inLanes } from './lanes.mjs';

// Otherwise it formats a line for every job that succeeds. It reads this variable when it is loaded.
process.env.NO_LOG_SUCCESS = '1';
const { Logger, makeWorkerUtils, run, runMigrations } = await import('graphile-worker');

export const about = {
  name: 'Graphile Worker',
  package: 'graphile-worker',
  store: 'postgres',
  settings:
    'bulk with the SQL function add_jobs in 2 lanes of 1,000 jobs, single with addJob; concurrentJobs, localQueue.size of 4 × the ' +
    'concurrency (that many jobs are locked ahead), completeJobBatchDelay 0, failJobBatchDelay 0, no log lines for successes; results ' +
    'cannot be stored: the row of a finished job is deleted; 20 connections for the client, 10 per worker',
  can: ['bulk', 'single', 'drain', 'pickup'],
};

const LOCKED_AHEAD = 4;

const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

// Not addJobs, which would return all jobs.
const ADD_JOBS = `SELECT count(*) FROM graphile_worker.add_jobs(
  ARRAY(SELECT json_populate_recordset(NULL::graphile_worker.job_spec, $1::json)))`;
// From the newest back, because the oldest are done first: this avoids a scan over deleted rows.
const UNFINISHED = `SELECT FROM graphile_worker._private_jobs
  WHERE task_id = (SELECT id FROM graphile_worker._private_tasks WHERE identifier = $1) ORDER BY id DESC LIMIT 1`;

export async function prepare(url) {
  await runMigrations({ connectionString: url, logger });
}

export async function openClient(url) {
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: 20, logger });
  const query = (name, text, values) => utils.withPgClient((client) => client.query({ name, text, values }));
  return {
    bulk(count, payload) {
      const spec = { identifier: 'noop', payload };
      return inLanes(count, (size) => query('bench_add_jobs', ADD_JOBS, [JSON.stringify(new Array(size).fill(spec))]));
    },
    single: (payload) => utils.addJob('noop', payload),
    pickup: (at) => utils.addJob('pickup', { at }),
    unfinished: async (kind) => (await query('bench_unfinished', UNFINISHED, [kind])).rows.length,
    close: () => utils.release(),
  };
}

export async function openWorker(url, { concurrency, onNoop, onPickup }) {
  const runner = await run({
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: concurrency,
        maxPoolSize: 10,
        localQueue: { size: concurrency * LOCKED_AHEAD },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger,
      },
    },
    noHandleSignals: true,
    parsedCronItems: [],
    taskList: {
      noop() {
        onNoop();
        return { ok: true };
      },
      pickup({ at }) {
        onPickup(at);
      },
    },
  });
  return { close: () => runner.stop() };
}
