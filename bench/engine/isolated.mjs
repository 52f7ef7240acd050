// `npm run bench:isolated`: the same workflow in the worker and isolated: steps per second of many runs, and the time per step of one alone.

import { createHash } from 'node:crypto';
import { startEmbedded } from '../../dist/esm/libs/embedded/index.js';
import { Engine, REAL_RUNTIME, StoredPrograms } from '../../dist/esm/libs/engine/index.js';
import { compile, saveProgram } from '../../dist/esm/libs/flow/index.js';
import { IsolationPool } from '../../dist/esm/libs/isolation/index.js';
import { getExecution, insertExecutions, newId, Store, upsertDefinitions } from '../../dist/esm/libs/store/index.js';

const STEPS = 20;
const RUNS = Number(process.env.RUNS ?? 300);
const ALONE = 20;
const SOURCE = `let sum = 0; for (let n = 1; n <= ${STEPS}; n++) sum += await Task.run('step', n); return sum`;
const POLICY = { queue: 'default', priority: 0, maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false };
const TASK = { name: 'step', place: 'bench', policy: { ...POLICY, transactional: false }, run: async (n) => n };

const server = await startEmbedded({ durable: false });
const store = await Store.open({ url: server.url });
const rows = [];
try {
  for (const [name, isolate, processes] of [
    ['in the worker', false, 1],
    ['isolated, 1 process', true, 1],
    ['isolated, 2 processes', true, 2],
  ])
    rows.push({ turns: name, ...(await measure(isolate, processes)) });
  console.table(rows);
} finally {
  await store.close();
  await server.stop();
}

async function measure(isolate, processes) {
  const name = `bench${rows.length}`;
  const program = compile(SOURCE, { file: `${name}.flow` });
  const version = createHash('sha256').update(SOURCE).digest('hex');
  const definition = { name, version, source: SOURCE, file: `${name}.flow`, allow: {}, isolate };
  await upsertDefinitions(store.db, [{ ...definition, fingerprint: program.fingerprint, program: saveProgram(program) }]);
  const pool = new IsolationPool({ processes });
  const flows = { get: (asked) => (asked === name ? { version, program, allow: undefined, isolate } : undefined) };
  const engine = new Engine({
    store,
    tasks: { get: (asked) => (asked === 'step' ? TASK : undefined), names: () => ['step'], suggest: () => '' },
    programs: new StoredPrograms(store, flows, {}, REAL_RUNTIME, pool),
  });
  await engine.start();
  const run = (count) => {
    const ids = Array.from({ length: count }, () => newId());
    return { ids, ended: start(name, version, ids) };
  };
  await run(RUNS / 3).ended;
  const began = performance.now();
  await run(RUNS).ended;
  const seconds = (performance.now() - began) / 1_000;
  const times = [];
  for (let n = 0; n < ALONE; n++) {
    const { ids, ended } = run(1);
    await ended;
    const { startedAt, finishedAt } = await getExecution(store.db, ids[0]);
    times.push((finishedAt - startedAt) / STEPS);
  }
  times.sort((a, b) => a - b);
  await engine.stop();
  await pool.close();
  return {
    'steps/s, many runs': Math.round((RUNS * STEPS) / seconds),
    'ms per step, one run': times[ALONE / 2].toFixed(2),
    slowest: times.at(-1).toFixed(2),
  };
}

async function start(name, version, ids) {
  await insertExecutions(
    store.db,
    ids.map((id) => ({ id, type: 'workflow', targetName: name, queue: 'default', version })),
  );
  store.hints.hint('work', 'default');
  for (const id of ids) {
    for (;;) {
      const found = await getExecution(store.db, id);
      if (found?.status === 'failed') throw new Error(JSON.stringify(found.error));
      if (found?.finishedAt) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
