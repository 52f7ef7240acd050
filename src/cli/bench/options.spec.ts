// The flags of `rhythm bench`: their defaults, and the errors for invalid ones.

import { describe, expect, it } from '@jest/globals';
import { readBaseline, readWorkers } from './options.js';

const REQUIRED = { workflows: '0', payloadSize: '100' };

describe('the flags of the benchmark', () => {
  it('have the defaults of each mode', () => {
    const work = { workflows: 0, payloadSize: 100, duration: null };
    expect(readBaseline(REQUIRED)).toEqual({ ...work, tasks: 10_000, concurrency: 1_000, batch: 100, workDelayUs: 0 });
    expect(readBaseline({ ...REQUIRED, concurrency: '7', duration: '30s' })).toMatchObject({ batch: 7, duration: 30_000 });
    expect(readWorkers(REQUIRED)).toEqual({ ...work, tasks: 1_000, workers: 10, computeIterations: 0, queues: ['default'] });
    expect(readWorkers({ ...REQUIRED, queues: 'a, b' })).toMatchObject({ queues: ['a', 'b'] });
  });

  it.each([
    [{ tasks: 'many' }, /--tasks: "many" is not a whole number between 0 and 10000000/],
    [{ tasks: '0' }, /--tasks and --workflows are both 0: there is nothing to measure/],
    [{ workflows: '-1' }, /--workflows: "-1" is not a whole number/],
    [{ duration: 'soon' }, /--duration: .*soon/],
    [{ duration: '0s' }, /--duration: 0 leaves no time to measure/],
    [{ payloadSize: '1' }, /--payload-size: "1" is not a whole number between 2 and 1000000/],
    [{ concurrency: '0' }, /--concurrency: "0" is not a whole number between 1 and 100000/],
    [{ batch: '20', concurrency: '10' }, /--batch: 20 is more than may be claimed at the same time \(--concurrency 10\)/],
    [{ workDelayUs: '1.5' }, /--work-delay-us: "1.5" is not a whole number/],
    [{ workers: '2' }, /--workers belongs to `rhythm bench worker`/],
  ])('of the baseline cannot be %j', (flags, message) => {
    expect(() => readBaseline({ ...REQUIRED, ...flags })).toThrow(message);
  });

  it.each([
    [{ batch: '2' }, /--batch belongs to the baseline, `rhythm bench`/],
    [{ workers: '0' }, /--workers: "0" is not a whole number between 1 and 1000/],
    [{ computeIterations: 'x' }, /--compute-iterations: "x" is not a whole number/],
    [{ queues: 'a,,b' }, /--queues: "a,,b" has an empty name in it/],
    [{ queues: 'a,a' }, /--queues: "a" is given twice/],
    [{ queues: 'q'.repeat(101) }, /--queues: "q+…" has 101 characters; the limit is 100/],
  ])('of worker mode cannot be %j', (flags, message) => {
    expect(() => readWorkers({ ...REQUIRED, ...flags })).toThrow(message);
  });
});
