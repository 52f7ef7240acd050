// The raw limit: our own tables and statements, called by bare loops without module, engine, VM or user code.

import pg from 'pg';
import {
  claimWork,
  commitWork,
  insertExecutions,
  loadRuns,
  newId,
  retrying,
  Store,
  turnCommit,
} from '../../../dist/esm/libs/store/index.js';
import { UNFINISHED } from './backlog.mjs';
import { inLanes } from './lanes.mjs';

export const about = {
  name: 'raw limit',
  store: 'postgres',
  settings:
    'bulk with the statement of startMany in 2 lanes of 1,000; bare loops over claim_work and commit_work: batches of 100, statements ' +
    'pipelined on 4 connections for claims and 4 for commits, a snapshot of 350 bytes per turn',
  can: ['bulk', 'drain', 'pickup', 'steps5', 'steps20', 'contend'],
};

const BATCH = 100;
const CONNECTIONS = 4;
const STEPS = { steps5: 5, steps20: 20 };
// The size of the stored state of the reference order.
const SNAPSHOT = JSON.stringify({ state: 'x'.repeat(338) });
const OUTPUT = '{"ok":true}';

export async function prepare(url) {
  await (await Store.open({ url })).close();
}

export async function openClient(url) {
  const store = await Store.open({ url, poolSize: 4 });
  const insert = (count, make) => inLanes(count, (size) => insertExecutions(store.db, Array.from({ length: size }, make)));
  const task = (name, input) => ({
    id: newId(),
    fresh: true,
    type: 'task',
    targetName: name,
    queue: 'default',
    input: JSON.stringify(input),
  });
  return {
    bulk: (count, payload) => insert(count, () => task('noop', payload)),
    async pickup(at) {
      await insertExecutions(store.db, [task('pickup', { at })]);
      await store.db.rows({ name: 'raw_notify', text: 'NOTIFY raw_work' });
    },
    async workflows(kind, count) {
      await insert(count, () => ({
        id: newId(),
        fresh: true,
        type: 'workflow',
        targetName: kind,
        queue: 'default',
        version: 'raw',
        input: '{}',
      }));
      await store.db.rows({ name: 'raw_notify', text: 'NOTIFY raw_work' });
    },
    unfinished: async () => (await store.db.rows({ name: 'raw_unfinished', text: UNFINISHED }))[0].n,
    close: () => store.close(),
  };
}

const claims = [];
export const gauges = () => ({ claimMs: claims });

export async function openWorker(url, { concurrency, connections = CONNECTIONS, onNoop, onPickup }) {
  const store = await Store.open({ url, autoMigrate: false });
  const workerId = `raw-${newId()}`;
  const links = Array.from({ length: connections }, () => ({ claim: store.link({ asyncCommit: true }), commit: store.link() }));
  const listener = new pg.Client({ connectionString: url });
  await listener.connect();
  let wake = () => undefined;
  listener.on('notification', () => wake());
  await listener.query('LISTEN raw_work');
  let running = true;
  const untilWoken = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, 1_000);
      const wakeOthers = wake;
      wake = () => {
        clearTimeout(timer);
        wakeOthers();
        resolve();
      };
    });

  const loop = async (link) => {
    while (running) {
      const startedAt = performance.now();
      const claim = await retrying(() => claimWork(link.claim, workerId, newId(), ['default'], BATCH));
      if (claim.items.length > 0) claims.push(performance.now() - startedAt);
      if (claim.items.length > 0) await complete(link.commit, workerId, claim, { onNoop, onPickup });
      if (claim.taken < BATCH && running) await untilWoken();
    }
  };
  const loops = Array.from({ length: Math.max(1, Math.ceil(concurrency / BATCH)) }, (_, n) => loop(links[n % links.length]));
  return {
    async close() {
      running = false;
      wake();
      await Promise.all(loops);
      await listener.end();
      await Promise.all(links.flatMap((link) => [link.claim.close(), link.commit.close()]));
      await store.close();
    },
  };
}

async function complete(link, workerId, { claimId, items, now }, { onNoop, onPickup }) {
  const ended = { status: 'completed', output: OUTPUT, startedAt: now };
  const tasks = items.filter(({ type }) => type === 'task');
  for (const { name, input } of tasks) {
    if (name === 'pickup') onPickup(JSON.parse(input).at);
    else onNoop();
  }
  const runs = items.filter(({ type }) => type === 'workflow');
  const results = tasks.map(({ id, bucket, fence, attempts }) => ({ id, bucket, fence, attempts, ...ended }));
  if (runs.length === 0) return void (await retrying(() => commitWork(link, { workerId, tasks: results, turns: [], claims: [claimId] })));
  await loadRuns(link, runs, runs);
  await runSteps(link, workerId, runs, { claimId, now, ended, results, onNoop });
}

// Runs a group of workflows step by step: the result of one step, the turn and the next child in one statement.
async function runSteps(link, workerId, runs, { claimId, now, ended, results, onNoop }) {
  const count = STEPS[runs[0].name];
  let claims = [claimId];
  let tasks = results;
  let fence;
  for (let step = 1; step <= count + 1; step++) {
    const last = step === count + 1;
    const ids = last ? [] : runs.map(({ id }) => `${id}:${step}`);
    const immediate = last ? undefined : { claimId: newId(), ids };
    const turns = runs.map(({ id, bucket, fence: first }, n) =>
      turnCommit({
        ...{ id, bucket, fence: fence ?? first, startedAt: now, keepNotes: 1_000 },
        ...(step > 1 ? { needs: n } : {}),
        ...(last
          ? { status: 'completed', output: OUTPUT, state: { action: 'drop' } }
          : { status: 'suspended', state: { action: 'store', snapshot: SNAPSHOT, calls: step, known: step > 1 } }),
        children: last
          ? []
          : [{ id: ids[n], type: 'task', targetName: 'noop', queue: 'default', parentId: id, parentCall: step, input: '{"order":7}' }],
      }),
    );
    const work = { workerId, tasks, turns, claims, immediate, optimistic: true };
    ({ fence } = await retrying(() => commitWork(link, work)));
    claims = immediate ? [immediate.claimId] : [];
    const childFence = fence;
    tasks = runs.map(({ id, bucket }, n) => {
      if (!last) onNoop();
      return { id: ids[n], bucket, fence: childFence, attempts: 0, parent: { id, bucket, call: step }, ...ended };
    });
  }
}

export { hold } from './backlog.mjs';
