// Counts, throughput and percentiles follow from the timestamps, without the warm-up.

import { describe, expect, it } from '@jest/globals';
import type { BenchmarkTime } from '../../../libs/store/index.js';
import { measure } from './metrics.js';

const task = (createdAt: number, finishedAt: number | null, status = finishedAt === null ? 'pending' : 'completed'): BenchmarkTime => ({
  type: 'task',
  status,
  createdAt,
  finishedAt,
});

describe('measure', () => {
  it('leaves out the tenth that completed first, in throughput and in latency', () => {
    // One every 10 ms, the first after a second; latencies are 11 … 100 ms, those of the warm-up 5,000.
    const times = Array.from({ length: 100 }, (_, n) => {
      const finishedAt = 1_000 + n * 10;
      return task(n < 10 ? finishedAt - 5_000 : finishedAt - (n + 1), finishedAt);
    });
    expect(measure(times, 'task', 0)).toEqual({
      total: 100,
      completed: 100,
      failed: 0,
      pending: 0,
      perSecond: 100,
      overallPerSecond: 100_000 / 1_990,
      latencyMs: { p50: 55, p95: 96, p99: 100 },
    });
  });

  it('does not count the rest of a group commit as done after it', () => {
    const times = [...Array.from({ length: 50 }, () => task(0, 1_000)), ...Array.from({ length: 50 }, () => task(0, 2_000))];
    expect(measure(times, 'task', 0).perSecond).toBe(50);
  });

  it('counts from the start when one commit ended everything', () => {
    expect(measure([task(100, 600), task(100, 600)], 'task', 100).perSecond).toBe(4);
    expect(
      measure(
        Array.from({ length: 20 }, () => task(100, 600)),
        'task',
        100,
      ).perSecond,
    ).toBe(40);
  });

  it('distinguishes failed and pending from completed, and tasks from workflows', () => {
    const times = [task(0, 10), task(0, 10, 'failed'), task(0, 10, 'cancelled'), task(0, null), task(0, null, 'suspended')];
    expect(measure(times, 'task', 0)).toMatchObject({ total: 5, completed: 1, failed: 2, pending: 2 });
    expect(measure(times, 'workflow', 0)).toEqual({
      total: 0,
      completed: 0,
      failed: 0,
      pending: 0,
      perSecond: null,
      overallPerSecond: null,
      latencyMs: null,
    });
  });
});
