// Random workflows run with steps in place and without them: everything that people can read of them afterwards is the same.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EngineOptions } from '../../libs/engine/index.js';
import { type ExecutionRecord, readHistory, readTree, type Store, sendSignals } from '../../libs/store/index.js';
import { generatedSeed } from '../support/generated-seed.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';
import { RANDOM_FLOW, type RandomFlow } from './random-flows.js';
import { RANDOM_POLICIES, randomTasks } from './random-tasks.js';

const CASES = 150;

describe('random workflows', () => {
  const kit = useHarness();
  const flows = fc.sample(RANDOM_FLOW, { numRuns: CASES, seed: generatedSeed }).map((make, n) => make(n));
  let store: Store;
  const tasks = randomTasks(() => store);

  it.each([
    ['one worker', [{ concurrency: 100 }]],
    ['two workers, one of which keeps few runs in memory', [{ concurrency: 60 }, { concurrency: 60, cachedRuns: 3 }]],
  ] satisfies [string, Partial<EngineOptions>[]][])(
    'are the same with steps in place as without them, on %s',
    async (_, workers) => {
      const run = async (options: Partial<EngineOptions>) => {
        const harness = await kit.open({
          flows: sourcesOf(flows),
          tasks,
          policies: RANDOM_POLICIES,
          engine: { queues: ['default', 'other'], ...options },
        });
        store = harness.store;
        for (const worker of workers) await harness.engine(worker);
        const runs = await runAll(harness, flows);
        const inPlace = await harness.count('steps');
        return { harness, runs, inPlace };
      };
      const without = await run({ stepsInPlace: 0 });
      expect(without.harness.problems()).toEqual([]);
      await without.harness.close();
      const withSteps = await run({});
      flows.forEach((flow, n) => {
        try {
          expect(withSteps.runs[n]).toEqual(without.runs[n]);
        } catch (error) {
          throw new Error(`Workflow ${n} of the seed ${generatedSeed} differs.\n${(error as Error).message}\n${shown(flow)}`);
        }
      });
      expect(without.inPlace).toBe(0);
      // Those that ended in place; others began in place and got rows.
      expect(withSteps.inPlace).toBeGreaterThan(CASES);
    },
    90_000,
  );
});

function sourcesOf(flows: readonly RandomFlow[]): Record<string, string> {
  return Object.fromEntries(flows.flatMap(({ source, children }, n) => [[`flow-${n}`, source], ...children]));
}

function shown({ source, children }: RandomFlow): string {
  return [source, ...[...children].map(([name, text]) => `// ${name}\n${text}`)].join('\n');
}

// A failed run keeps what a retry needs, and the time limit for the start of a task that has ended stays until it is due.
const ofRun = (table: string) =>
  `SELECT '${table} of ' || e.target_name || ' ' || e.id || ' ' || to_jsonb(t) FROM rhythm.${table} t JOIN rhythm.executions e ON e.id = t.execution_id AND e.bucket = t.bucket AND e.status <> 'failed'`;
const LEFT = `SELECT 'claims' AS what FROM rhythm.claims UNION ALL SELECT 'work_queue' FROM rhythm.work_queue
  UNION ALL SELECT id FROM rhythm.executions WHERE finished_at IS NULL OR pending IS NOT NULL
  UNION ALL ${ofRun('inbox')} UNION ALL ${ofRun('signals')} UNION ALL ${ofRun('resume_groups')} UNION ALL ${ofRun('scheduled_queue')} AND t.kind <> 'start'`;

/** Runs them all at once. Resolves with what can be read of each when everything has ended. */
async function runAll(harness: Harness, flows: readonly RandomFlow[]): Promise<unknown[]> {
  const { db, hints } = harness.store;
  const ids = await Promise.all(flows.map((_, n) => harness.start(`flow-${n}`, { n })));
  await sendSignals(
    db,
    flows.flatMap(({ source }, n) =>
      (source.match(/'outer'/g) ?? []).map(() => ({ executionId: ids[n], name: 'outer', payload: JSON.stringify('from outside') })),
    ),
  );
  hints.hint('work', 'default');
  for (const id of ids) await harness.ended(id, 60_000);
  await waitFor('everything to end', async () => {
    const left = await harness.query<{ what: string }>(LEFT);
    if (left.length > 0) throw new Error(`left: ${left.map(({ what }) => what)}`);
    return true;
  });
  return Promise.all(ids.map((id, n) => readable(harness, id, flows[n])));
}

async function readable(harness: Harness, root: string, flow: RandomFlow): Promise<unknown> {
  const records = await readTree(harness.store.db, root);
  const labels = new Map(records.map((record) => [record.id, labelOf(record)]));
  const label = (id: string) => labels.get(id) ?? id;
  const byLabel = (a: string, b: string) => (a < b ? -1 : 1);
  // Of the steps only one: to read them all takes longer than everything else.
  const oneStep = records
    .map((record) => (record.type === 'task' ? label(record.id) : ''))
    .sort()
    .at(-1);
  const read = records.filter((record) => record.type === 'workflow' || label(record.id) === oneStep);
  const histories = await Promise.all(read.map(({ id }) => readHistory(harness.store.db, id)));
  const cancelled = new Set(records.filter(({ status }) => status === 'cancelled').map(({ id }) => id));
  const finished = harness.events.flatMap((event) => (event.type === 'finished' && labels.has(event.executionId) ? [event] : []));
  return {
    executions: records
      .map((record) => ({
        label: label(record.id),
        number: flow.isNumbered ? record.id.slice(root.length) : undefined,
        parent: record.parentId && label(record.parentId),
        ...fieldsOf(record),
      }))
      .sort((a, b) => byLabel(a.label, b.label)),
    history: histories
      .map((entries, n) => {
        const kinds = entries
          // A task that is cancelled may not have begun.
          .filter(({ kind, executionId }) => !(kind.endsWith('started') && cancelled.has(executionId)))
          .map(({ kind, executionId, name, detail }) => `${kind} ${label(executionId)} ${name} ${JSON.stringify(withoutPlaces(detail))}`);
        return `${label(read[n].id)}:\n${kinds.sort().join('\n')}`;
      })
      .sort(),
    // A run that is cancelled does not wait for its steps.
    ends: flow.isSequential
      ? histories[read.findIndex(({ id }) => id === root)]
          .filter(({ kind, name }) => /^step-(completed|failed|cancelled)$/.test(kind) && name !== 'cancel-run')
          .map(({ executionId }) => label(executionId))
      : undefined,
    // One that is completed from outside ends without its worker.
    finished: finished
      .filter(({ name }) => name !== 'later')
      .map(({ executionId, status }) => `${label(executionId)} ${status}`)
      .sort(),
  };
}

function labelOf({ name, input }: ExecutionRecord): string {
  const { l, n } = JSON.parse(input as string) as { l?: number; n?: number };
  return `${name} ${l ?? n}`;
}

function fieldsOf(record: ExecutionRecord) {
  const { type, name, queue, priority, status, version, input, output, error, options, tags, attempts, crashes, progress, note } = record;
  return {
    ...{ type, name, queue, priority, status, version, input, output, options, tags, attempts, crashes, progress, note },
    error: withoutPlaces(error),
    // Where nothing has run it, nobody has begun it either.
    ...(status === 'cancelled' ? {} : { workerId: record.workerId !== null, startedAt: record.startedAt !== null }),
    finishedAt: record.finishedAt !== null,
    cancelledAt: record.cancelledAt !== null,
  };
}

// Ids and numbers of calls are compared elsewhere, where they are the same.
function withoutPlaces(detail: unknown): unknown {
  if (detail === null || typeof detail !== 'object') return detail;
  const { stack: _stack, call: _call, ...rest } = detail as Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest).replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID'));
}
