// `npm run bench:loop`: measures what an endless loop stores in the database, with SQL after 2,000 and after 100,000 awaits.

import { createHash } from 'node:crypto';
import { startEmbedded } from '../../libs/embedded/index.js';
import { Engine, StoredPrograms } from '../../libs/engine/index.js';
import { compile, saveProgram } from '../../libs/flow/index.js';
import { getExecution, insertExecutions, newId, Store, sql, upsertDefinitions } from '../../libs/store/index.js';

const FEW = 2_000;
const MANY = Number(process.env.TURNS ?? 100_000);
const SOURCE = `let sum = 0; for (let n = 1; n <= Inputs; n++) sum += await Task.run('step', n); return sum;`;

const server = await startEmbedded({ durable: false });
const store = await Store.open({ url: server.url });
try {
  const program = compile(SOURCE, { file: 'loop.flow' });
  const version = createHash('sha256').update(SOURCE).digest('hex');
  await upsertDefinitions(store.db, [
    {
      name: 'loop',
      version,
      source: SOURCE,
      file: 'loop.flow',
      fingerprint: program.fingerprint,
      program: saveProgram(program),
      allow: {},
      isolate: false,
    },
  ]);
  const rows = [];
  for (const maxSteps of [1_000, 0]) rows.push(...(await loop(maxSteps, { program, version })));
  console.table(rows);
  check(rows);
} finally {
  await store.close();
  await server.stop();
}

async function loop(maxSteps, { program, version }) {
  const rows = [];
  const addRow = async (at) => rows.push({ maxSteps, at, ...(await measure()) });
  const step = async (n) => {
    // Measured inside a step, while the run waits at exactly this await.
    if (n === FEW || n === MANY) await addRow(`await ${n.toLocaleString('en')}`);
    return 1;
  };
  const policy = { queue: 'default', priority: 0, maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false };
  const task = { name: 'step', place: 'bench', policy: { ...policy, transactional: false }, run: step };
  const engine = new Engine({
    store,
    tasks: { get: (name) => (name === 'step' ? task : undefined), names: () => ['step'] },
    programs: new StoredPrograms(store, { get: () => ({ version, program, allow: undefined }) }, {}),
    options: { maxSteps },
  });
  await engine.start();
  const id = newId();
  const startedAt = performance.now();
  await insertExecutions(store.db, [{ id, type: 'workflow', targetName: 'loop', queue: 'default', version, input: String(MANY) }]);
  store.hints.hint('work', 'default');
  let run;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    run = await getExecution(store.db, id);
  } while (!run.finishedAt);
  const seconds = (performance.now() - startedAt) / 1000;
  if (run.status !== 'completed' || run.output !== String(MANY)) throw new Error(`The loop ended as ${run.status} with ${run.output}.`);
  await engine.stop();
  await addRow('the end');
  console.log(`maxSteps ${maxSteps}: ${MANY} awaits in ${seconds.toFixed(0)} s, ${Math.round(MANY / seconds)} per second`);
  const tables = await tableNames();
  await store.db.rows(sql('bench_empty', `TRUNCATE ${tables.filter((name) => !/definitions|programs/.test(name)).join(', ')}`));
  return rows;
}

// Live rows and their bytes as PostgreSQL stores them; `files` is their space on disk, including dead rows and indexes.
async function measure() {
  const found = { rows: 0, 'live bytes': 0, 'files KiB': 0 };
  for (const name of (await tableNames()).filter((table) => !/definitions|programs|heartbeats/.test(table))) {
    const text = `SELECT count(*)::integer AS rows, coalesce(sum(pg_column_size(t.*)), 0)::integer AS bytes,
      pg_total_relation_size('${name}')::integer AS files FROM ${name} t`;
    const [row] = await store.db.rows(sql('bench_table', text));
    found.rows += row.rows;
    found['live bytes'] += row.bytes;
    found['files KiB'] += Math.round(row.files / 1024);
  }
  return found;
}

async function tableNames() {
  const text = `SELECT 'rhythm.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'rhythm' AND tablename NOT IN ('migrations', 'schema_info') ORDER BY 1`;
  return (await store.db.rows(sql('bench_tables', text))).map(({ name }) => name);
}

// No more rows than before, and no more bytes than the longer numbers in their ids need. PostgreSQL rounds the size of a row up
// to eight bytes, so `parent:100000` may need eight more than `parent:2000`.
function check(rows) {
  for (const maxSteps of [1_000, 0]) {
    const [few, many, end] = rows.filter((row) => row.maxSteps === maxSteps);
    const more = many['live bytes'] - few['live bytes'];
    console.log(`maxSteps ${maxSteps}: ${many.rows - few.rows} rows and ${more} bytes more, ${end.rows} rows left at the end`);
    if (many.rows > few.rows || more > 8 * many.rows || (maxSteps === 0 && end.rows !== 1)) {
      console.error('The loop stores more than it should.');
      process.exitCode = 1;
    }
  }
}
