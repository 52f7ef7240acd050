// `npm run bench:scale -- --rows 100000,1000000`: plans, pages and times of the statements whose cost must not grow with the tables.
// `--old ../before` measures the statements of another checkout, on the same rows.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../../libs/embedded/index.js';
import { statementsOf } from '../../test/scale/statements.js';
import { explained } from '../../test/support/explained.js';
import { addDue, fillTables } from '../../test/support/many-rows.js';
import { median } from '../statistics.mjs';

const { values: flags } = parseArgs({
  options: { rows: { type: 'string', default: '100000' }, old: { type: 'string' }, only: { type: 'string' } },
});
const store = await import(new URL('libs/store/index.ts', pathToFileURL(`${resolve(flags.old ?? '.')}/`)).href);
const TIMES = 5;
// A part of the statements is measured with this many rows that are due, as after an outage.
const DUE = 300_000;

for (const rows of flags.rows.split(',').map(Number)) {
  if (!Number.isInteger(rows) || rows < 10_000)
    throw new RangeError('--rows takes numbers of executions, at least 10000, with commas between them.');
  const server = await startEmbedded({ durable: false });
  const database = await store.Store.open({ url: server.url });
  try {
    const startedAt = performance.now();
    await fillTables(database.db, rows);
    console.log(`${rows.toLocaleString('en')} executions, filled in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    const calls = Object.entries(statementsOf(store)).map(([name, { call }]) => [name, call]);
    const due = Math.min(DUE, rows / 10 - 10);
    const table = [];
    for (const [name, call] of calls) if (!flags.only || name.includes(flags.only)) table.push(await measured(database.db, name, call));
    if (!flags.only) {
      await addDue(database.db, 'timer', due);
      await database.db.rows(store.sql('bench_analyze', 'ANALYZE rhythm.scheduled_queue'));
      const move = (db) => store.moveDue(db, 1_000);
      table.push(await measured(database.db, `timers: ${due.toLocaleString('en')} due, 1,000 moved`, move));
      table.push(
        await measured(database.db, `time limits beside ${due.toLocaleString('en')} due timers`, (db) => store.readOverdue(db, 500)),
      );
    }
    console.table(table);
  } finally {
    await database.close();
    await server.stop();
  }
}

async function measured(db, name, call) {
  const times = [];
  let last = [];
  for (let n = 0; n < TIMES; n++) {
    const undo = new Error('undo');
    await db
      .transaction(async (tx) => {
        const { runner, statements } = explained(tx);
        try {
          await call(runner);
        } catch (error) {
          // An older checkout does not have this call.
          if (!(error instanceof TypeError)) throw error;
          statements.length = 0;
        }
        last = statements;
        throw undo;
      })
      .catch((error) => {
        if (error !== undo) throw error;
      });
    if (last.length === 0) return { statement: name, pages: '-', ms: '-', scans: '-', plan: 'not in this checkout' };
    times.push(last.reduce((sum, { ms }) => sum + ms, 0));
  }
  const all = (key) => [...new Set(last.flatMap((statement) => statement[key]))].join(', ');
  return {
    statement: name,
    pages: last.reduce((sum, { buffers }) => sum + buffers, 0),
    ms: Number(median(times).toFixed(2)),
    scans: all('scanned'),
    plan: all('nodes').slice(0, 120),
  };
}
