// Random workflows whose tasks stop them again and again, on workers that die: at rest, what is written that each waits for is what
// `inspect` reads from its state, and at no time does anything suspended lack a row, or anything else have one.

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listExecutions, type Store, sendSignals } from '../../libs/store/index.js';
import { type DyingStore, dyingStore } from '../faults/dying-store.js';
import { generatedSeed } from '../support/generated-seed.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Handler, Harness } from './harness.js';
import { RANDOM_FLOW } from './random-flows.js';
import { RANDOM_POLICIES, randomTasks } from './random-tasks.js';
import { differencesOf, wrongRows } from './waiting-rows.js';

const CASES = 60;
// Every third call stops until the spec lets it go on; later rounds let more of them pass.
const STOPPED = 3;
// Only the worker that is to die serves it.
const OWN_QUEUE = 'victim';

class Gate {
  private open: (() => void)[] = [];
  private passed = new Set<string>();
  isOpen = false;

  /** Tasks that stop at the gate before they do what they do. */
  guard(handlers: Record<string, Handler>): Record<string, Handler> {
    const guarded = Object.entries(handlers).map(([name, run]): [string, Handler] => [
      name,
      async (input, context) => {
        const { executionId: id, signal } = context;
        const { l = 0 } = (input ?? {}) as { l?: number };
        if (!this.isOpen && !this.passed.has(id) && (l + name.length) % STOPPED === 0) await this.wait(id, signal);
        return run(input, context);
      },
    ]);
    return Object.fromEntries(guarded);
  }

  /** Lets everything that has stopped go on. */
  lift(): void {
    for (const go of this.open.splice(0)) go();
  }

  private wait(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.open.push(() => {
        this.passed.add(id);
        resolve();
      });
    });
  }
}

describe('random workflows on workers that die', () => {
  const stores: DyingStore[] = [];
  // Before the harness is closed: it waits for its engines.
  afterEach(() => {
    for (const { comeBack } of stores) comeBack();
  });
  const kit = useHarness();
  afterAll(async () => {
    for (const { store } of stores) await store.close();
  });

  it('have the rows that inspect says, whenever they are at rest', async () => {
    kit.expectProblems();
    const flows = fc.sample(RANDOM_FLOW, { numRuns: CASES, seed: generatedSeed }).map((make, n) => make(n));
    let store: Store;
    const gate = new Gate();
    const tasks = gate.guard(randomTasks(() => store));
    const harness = await kit.open({
      flows: Object.fromEntries([
        ...flows.flatMap(({ source, children }, n) => [[`flow-${n}`, source], ...children]),
        ['more', 'return 1;'],
      ]),
      tasks,
      policies: RANDOM_POLICIES,
      engine: { queues: ['default', 'other'], concurrency: 200, deadAfterMs: 600, heartbeatMs: 50, shutdownGraceMs: 0 },
    });
    store = harness.store;
    let nth = 0;
    const worker = async () => {
      const dying = await dyingStore(
        { url: kit.url, schema: kit.schema },
        { statement: 'rhythm_commit_', when: nth % 2 === 0 ? 'before' : 'after', nth: 3 + ++nth },
      );
      stores.push(dying);
      await harness.engine({ queues: ['default', 'other', OWN_QUEUE] }, dying.store);
      return dying;
    };
    const watch = watchRows(harness);
    let victim = await worker();
    await harness.engine();
    const ids = await Promise.all(flows.map((_, n) => harness.start(`flow-${n}`, { n })));
    let compared = 0;
    for (let round = 0; round < 4; round++) {
      victim.arm();
      gate.lift();
      if (round === 1) {
        await sendSignals(
          harness.store.db,
          flows.flatMap(({ source }, n) =>
            (source.match(/'outer'/g) ?? []).map(() => ({ executionId: ids[n], name: 'outer', payload: '"from outside"' })),
          ),
        );
      }
      for (const queue of ['default', 'other']) harness.store.hints.hint('work', queue);
      await waitFor(
        'the victim to die',
        async () => {
          // The other worker may have got so much of the round that what is left is too little for this one to get to its death.
          if (!victim.isDead) await harness.start('more', undefined, { queue: OWN_QUEUE });
          return victim.isDead;
        },
        { everyMs: 250 },
      );
      victim = await worker();
      compared += await compareAtRest(harness);
    }
    // Otherwise nothing was tried.
    expect(compared).toBeGreaterThan(CASES);
    gate.isOpen = true;
    gate.lift();
    await waitFor(
      'everything to end',
      async () => {
        gate.lift();
        return (await harness.count('executions', 'finished_at IS NULL')) === 0;
      },
      { timeoutMs: 60_000 },
    );
    expect(await harness.count('waiting')).toBe(0);
    expect(await watch.stop()).toEqual([]);
  }, 180_000);
});

// Nothing is queued, due soon, held by a worker, or in the row of a run.
const MOVING = `SELECT 'queued ' || execution_id AS what FROM rhythm.work_queue
  UNION ALL SELECT 'due ' || kind || execution_id FROM rhythm.scheduled_queue WHERE kind IN ('wake', 'timer', 'run') AND due_at < now() + interval '15 s'
  UNION ALL SELECT 'in place ' || id FROM rhythm.executions WHERE pending IS NOT NULL
  UNION ALL SELECT 'held ' || e.id FROM rhythm.claims c, unnest(c.ids, c.fences) AS i(id, fence) JOIN rhythm.executions e ON e.id = i.id AND e.fence = i.fence AND e.type = 'workflow'
  UNION ALL SELECT 'event of ' || i.execution_id FROM rhythm.inbox i JOIN rhythm.executions e ON e.id = i.execution_id AND e.finished_at IS NULL AND e.type = 'workflow'
    AND NOT EXISTS (SELECT FROM rhythm.resume_groups g WHERE g.execution_id = e.id)`;

async function compareAtRest(harness: Harness): Promise<number> {
  let last = '';
  await waitFor(
    'the runs to be at rest',
    async () => {
      const moving = await harness.query<{ what: string }>(MOVING);
      const fences = await harness.query<{ sum: string }>(`SELECT coalesce(sum(fence), 0)::text AS sum FROM rhythm.executions`);
      const isSame = last === fences[0].sum;
      last = fences[0].sum;
      if (moving.length > 0) throw new Error(`moving: ${moving.slice(0, 5).map(({ what }) => what)}`);
      return isSame;
    },
    { timeoutMs: 40_000, everyMs: 150 },
  );
  const suspended = await harness.query<{ id: string; type: string }>(
    `SELECT id, type FROM rhythm.executions WHERE status = 'suspended' ORDER BY id`,
  );
  expect(await harness.count('waiting', `execution_id IN (SELECT id FROM rhythm.executions WHERE status = 'paused')`)).toBe(0);
  const runs = suspended.filter(({ type }) => type === 'workflow');
  const differences = await Promise.all(runs.map(({ id }) => differencesOf(harness, id)));
  expect(differences.flat()).toEqual([]);
  const listed: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listExecutions(harness.store.db, { status: 'suspended', limit: 9, cursor });
    listed.push(...page.items.map(({ id }) => id));
    cursor = page.next;
    if (!cursor) break;
  }
  expect(listed.sort()).toEqual(suspended.map(({ id }) => id).sort());
  return runs.length;
}

// Looks all the time, whatever moves.
function watchRows(harness: Harness): { stop(): Promise<string[]> } {
  let isDone = false;
  const wrong = new Set<string>();
  const looking = (async () => {
    while (!isDone) for (const what of await wrongRows(harness)) wrong.add(what);
  })();
  return {
    stop: async () => {
      isDone = true;
      await looking;
      return [...wrong];
    },
  };
}
