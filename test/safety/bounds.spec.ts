// What a flow takes is what it is charged for: memory is measured in a process of its own, time is counted in slices.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnWorker, useWorkers } from '../support/worker-process.js';
import { HEAP_BOUNDS, TIME_BOUNDS } from './bounds.js';

interface Ended {
  name: string;
  outcome: string;
  yields: number;
  megabytes: number;
}

const DEADLINE_MS = 60_000;
/** More than the process had before; the default `heapBytes` is 64 MiB. */
const MOST_MEGABYTES = 300;
// A gap ends the process at once, before it troubles the machine.
const NODE_ARGS = ['--max-old-space-size=600'];

const ended = new Map<string, Ended>();

useWorkers();

/** Runs the flows in one process; after one that ends it, the others go on in a new one. */
async function runAll(names: string[]): Promise<void> {
  for (let left = names; left.length > 0; left = left.slice(1)) {
    const worker = spawnWorker('test/safety/bounds.fixture.ts', { args: left, nodeArgs: NODE_ARGS });
    while (left.length > 0) {
      const finished = new RegExp(`^\\{"name":${JSON.stringify(left[0]).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')},"outcome".*$`, 'm');
      const [line] = await worker.line(finished, DEADLINE_MS).catch(() => ['']);
      if (line === '') break;
      const result = JSON.parse(line) as Ended;
      ended.set(result.name, result);
      left = left.slice(1);
    }
    await worker.kill();
  }
}

describe('the memory of a worker is bounded with the default limits, against', () => {
  beforeAll(() => runAll(HEAP_BOUNDS.map(({ name }) => name)), 400_000);

  it.each(HEAP_BOUNDS.map((bound) => [bound.name, bound] as const))('%s', (name, { ends }) => {
    expect(ended.get(name)).toMatchObject({ outcome: expect.stringMatching(ends) });
    expect(ended.get(name)?.megabytes).toBeLessThan(MOST_MEGABYTES);
  });
});

describe('other runs go on during', () => {
  beforeAll(() => runAll(TIME_BOUNDS.map(({ name }) => name)), 400_000);

  it.each(TIME_BOUNDS.map((bound) => [bound.name, bound] as const))('%s', (name, { ends, yields }) => {
    expect(ended.get(name)).toMatchObject({ outcome: expect.stringMatching(ends) });
    expect(ended.get(name)?.yields).toBeGreaterThanOrEqual(yields);
  });
});
