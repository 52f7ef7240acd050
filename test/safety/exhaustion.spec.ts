// Flows that try to exhaust a worker end in a typed error; they run in a process of their own, so that a gap is a failed test and not a crash.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawnWorker, useWorkers } from '../support/worker-process.js';
import { ATTACKS } from './exhaustion-attacks.js';

interface Ended {
  name: string;
  outcome: string;
  ms: number;
  /** The longest that a turn kept its thread without yielding. */
  longest: number;
}

// Generous for two busy cores: what hangs, hangs for minutes or forever.
const DEADLINE_MS = 25_000;
const LONGEST_SLICE_MS = 5_000;

const ended = new Map<string, Ended>();

useWorkers();

/** Runs the attacks in one process; after one that crashes or hangs it, the others go on in a new one. */
async function runAll(names: string[]): Promise<void> {
  for (let left = names; left.length > 0; left = left.slice(1)) {
    const worker = spawnWorker('test/safety/attacker.fixture.ts', { args: left, nodeArgs: ['--max-old-space-size=256'] });
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

describe('a worker with little memory survives', () => {
  beforeAll(() => runAll(ATTACKS.map(({ name }) => name)), 240_000);

  it.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', (name, { ends }) => {
    const result = ended.get(name);
    expect(result).toBeDefined();
    expect(result?.outcome).toMatch(ends);
    expect(result?.longest).toBeLessThan(LONGEST_SLICE_MS);
  });
});
