// All runs of a worker together: many that each take as much memory as they may leave the worker alive and small.

import { describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';
import { spawnWorker, useWorkers } from '../support/index.js';

const AT_ONCE = 20;
/** More than the worker has at rest. One run may hold 64 MiB, as the machine counts them. */
const MOST_MEGABYTES = 300;
// To send a statement takes several times the length of its values.
const MOST_WHEN_WRITTEN = 550;
const FLOWS = [
  ['objects', 'const l = []; for (;;) l.push({ 1000: 1 })', 'FLOW_LIMIT_HEAP', MOST_MEGABYTES],
  ['strings', 'const l = []; for (;;) l.push((2 ** 1023).toString(2))', 'FLOW_LIMIT_HEAP', MOST_MEGABYTES],
  [
    'inputs of tasks',
    'const s = "x".repeat(1e6); for (let i = 0; i < 50; i++) Task.run("echo", s, { queue: "elsewhere" }); return 1',
    undefined,
    MOST_WHEN_WRITTEN,
  ],
  ['log lines', 'const s = "x".repeat(1e6); for (let i = 0; i < 50; i++) console.log(s); return 1', undefined, MOST_WHEN_WRITTEN],
] as const;

describe('twenty runs at once that hold as much as they can of', () => {
  const kit = useHarness();
  useWorkers();

  it.each(FLOWS)(
    '%s end, and leave the worker within its bound',
    async (_what, source, code, most) => {
      const flows = { f: source };
      const harness = await kit.open({ flows });
      const env = { WORKER_URL: kit.url, WORKER_SCHEMA: kit.schema, WORKER_FLOWS: JSON.stringify(flows) };
      const worker = spawnWorker('test/safety/worker-memory.fixture.ts', { env, nodeArgs: ['--max-old-space-size=1000'] });
      await worker.line('ready');
      const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => harness.start('f')));
      for (const id of ids) {
        const { status, error } = await harness.ended(id, 120_000);
        expect(code ?? status).toBe(code ? (error as { code?: string } | null)?.code : 'completed');
      }
      process.kill(worker.pid, 'SIGUSR2');
      const [, megabytes] = await worker.line(/more than at rest: (\d+) MB/);
      await worker.kill();
      expect(Number(megabytes)).toBeLessThan(most);
    },
    180_000,
  );
});
