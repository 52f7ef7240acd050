// Which runs a worker keeps in memory between turns.

import { describe, expect, it } from '@jest/globals';
import type { HeldItem } from '../work/held-work.js';
import { type CachedRun, memoryOf, VmCache } from './vm-cache.js';

const run = (id: string, bytes: number) => ({ item: { id } as HeldItem, bytes }) as CachedRun;
const kept = (cache: VmCache, ids: readonly string[]) =>
  ids.filter((id) => {
    const found = cache.take(id);
    if (found) cache.put(found, 1);
    return found;
  });

describe('the runs kept in memory', () => {
  it('take no more bytes than they may, and the one used longest ago leaves first', () => {
    const cache = new VmCache(100, 1_000);
    for (const id of ['a', 'b', 'c', 'd']) cache.put(run(id, 250), 1);
    cache.put(cache.take('a') as CachedRun, 1);
    cache.put(run('e', 250), 1);
    expect(kept(cache, ['a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'c', 'd', 'e']);
    // One that was taken out, dropped or put again is counted once.
    cache.drop('c');
    for (let n = 0; n < 10; n++) cache.put(run('a', 250), 1);
    cache.put(run('f', 250), 1);
    expect(kept(cache, ['a', 'd', 'e', 'f'])).toEqual(['a', 'd', 'e', 'f']);
  });

  it('are no more than they may be, however small', () => {
    const cache = new VmCache(2, 1_000);
    for (const id of ['a', 'b', 'c']) cache.put(run(id, 1), 1);
    expect(kept(cache, ['a', 'b', 'c'])).toEqual(['b', 'c']);
  });

  it('do not include one that would take more than a quarter of all', () => {
    const cache = new VmCache(100, 1_000);
    cache.put(run('small', 250), 1);
    cache.put(run('large', 251), 1);
    cache.put(run('small', 251), 1);
    expect(kept(cache, ['small', 'large'])).toEqual([]);
  });

  it('are counted with the signals that wait for them', () => {
    const signal = { executionId: 'x', seq: 1, kind: 'signal', call: 0, name: 'go', payload: 'x'.repeat(1_000) } as const;
    expect(memoryOf('', [signal])).toBeGreaterThan(memoryOf('', []) + 2_000);
  });
});
