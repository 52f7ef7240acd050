// Long turns share their half of the thread, and their memory is bounded: with real runs, on a clock that only the spec moves.

import { describe, expect, it } from '@jest/globals';
import { compile, type FlowRun, startRun } from '../../flow/index.js';
import { REAL_RUNTIME, type Runtime } from '../runtime.js';
import { LongTurns } from './long-turns.js';

const CONTEXT = { executionId: 'run', rootId: 'run', parentId: null, workflow: 'long', version: 'v1', startedAt: 0, tags: [] };
const SLICE = 10_000;
/** A slice takes so long on the clock of the spec. */
const SLICE_MS = 4;
const MUCH = 2 ** 40;
const LOOP = 'for (let i = 0; i < 100_000; i++) {} return 1';
const HOLD = (count: number) => `const l = []; for (let i = 0; i < ${count}; i++) l.push({ i }); return l.length`;

interface Slice {
  name: string;
  from: number;
  to: number;
  /** What all runs hold after it. */
  bytes: number;
}

/** The parts of a worker that long turns use, and the slices that were run. */
function open(mostBytes = MUCH) {
  let now = 0;
  const slices: Slice[] = [];
  const runs: FlowRun[] = [];
  const closed = new AbortController();
  const committer = { backlogBytes: 0 };
  const sleeps: number[] = [];
  const fuels: number[] = [];
  const runtime: Runtime = {
    ...REAL_RUNTIME,
    monotonicNow: () => now,
    setTimer(ms, callback) {
      sleeps.push(ms);
      return REAL_RUNTIME.setTimer(0, () => {
        now += ms;
        callback();
      });
    },
  };
  const held = { size: 0 };
  const turns = new LongTurns(runtime, mostBytes, committer, held, closed.signal);
  const host = { now: () => 0, random: () => 0, uuid: () => '' };
  const begin = (name: string, source: string) => {
    const run = startRun(compile(source), { context: CONTEXT, limits: { fuelPerSlice: SLICE } });
    expect(run.turn([], host)).toEqual({ status: 'yielded' });
    runs.push(run);
    const flow = {
      get heapBytes() {
        return run.heapBytes;
      },
      snapshot: () => run.snapshot(),
      setAllowList: () => undefined,
      waitingPlaces: () => [],
      turn: (_: unknown, __: unknown, fuel?: number) => {
        fuels.push(fuel ?? 0);
        const from = now;
        const result = run.turn([], host, fuel);
        now += SLICE_MS;
        slices.push({ name, from, to: now, bytes: runs.reduce((sum, each) => sum + each.heapBytes, 0) });
        return result;
      },
    };
    return turns.finish(flow, host);
  };
  return { begin, slices, turns, closed, committer, held, sleeps, fuels };
}

describe('long turns', () => {
  it('take turns, slice by slice', async () => {
    const { begin, slices } = open();
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => begin(name, LOOP)));
    const each = slices.length / names.length;
    expect(each).toBeGreaterThan(5);
    expect(slices.map(({ name }) => name)).toEqual(Array.from({ length: slices.length }, (_, at) => names[at % names.length]));
  });

  it('leave the thread to others for as long as they had it, between any two slices', async () => {
    const { begin, slices } = open();
    await Promise.all([begin('a', LOOP), begin('b', LOOP)]);
    for (let at = 1; at < slices.length; at++) expect(slices[at].from - slices[at - 1].to).toBeGreaterThanOrEqual(SLICE_MS);
  });

  it('leave it for longer while the worker has other work', async () => {
    const { begin, slices, held } = open();
    held.size = 2;
    await begin('a', LOOP);
    for (let at = 1; at < slices.length; at++) expect(slices[at].from - slices[at - 1].to).toBeGreaterThanOrEqual(3 * SLICE_MS);
  });

  it('that begin while the last one rests share the same half', async () => {
    const { begin, slices } = open();
    let left = 5;
    const next = async (): Promise<void> => {
      if (left-- > 0) await begin(`run ${left}`, LOOP).then(next);
    };
    await next();
    for (let at = 1; at < slices.length; at++) expect(slices[at].from - slices[at - 1].to).toBeGreaterThanOrEqual(SLICE_MS);
  });

  it('have less fuel for a slice when the last one took longer than it should', async () => {
    const { begin, fuels } = open();
    await begin('a', LOOP);
    expect(fuels.slice(0, 6)).toEqual([50_000, 25_000, 12_500, 6_250, 3_125, 2_000]);
  });

  it('wait while all of them hold more than the bound, but for the one that began first', async () => {
    const most = 2_000_000;
    const { begin, slices } = open(most);
    const alone = open();
    await alone.begin('a', HOLD(15_000));
    const size = Math.max(...alone.slices.map(({ bytes }) => bytes));
    expect(size).toBeGreaterThan(most);
    const results = await Promise.all(['a', 'b', 'c', 'd'].map((name) => begin(name, HOLD(15_000))));
    expect(results.map((result) => result.status === 'completed' && result.output)).toEqual(['15000', '15000', '15000', '15000']);
    const ends = ['a', 'b', 'c', 'd'].map((name) => slices.findLastIndex((slice) => slice.name === name));
    expect(ends).toEqual([...ends].sort((a, b) => a - b));
    // Those that wait hold no more than the bound together.
    const live = slices.filter((_, at) => at < ends[0]).map(({ bytes }) => bytes);
    expect(Math.max(...live)).toBeLessThan(most + size);
  });

  it('wait while what is to be written is more than the bound, all of them', async () => {
    const { begin, slices, committer, sleeps } = open(1_000_000);
    committer.backlogBytes = 2_000_000;
    const done = begin('a', LOOP);
    while (sleeps.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(slices).toEqual([]);
    committer.backlogBytes = 0;
    expect(await done).toMatchObject({ status: 'completed' });
  });

  it('of a worker that is closed are dropped', async () => {
    const { begin, slices, turns, closed } = open();
    void begin('a', 'for (;;) {}');
    closed.abort();
    while (turns.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(slices).toEqual([]);
  });
});
