// What a worker does with an execution that it has lost.

import { describe, expect, it } from '@jest/globals';
import type { ClaimedItem } from '../../libs/store/index.js';
import { type WorkerParts, Workplace } from './workplace.js';

describe('a lost execution', () => {
  it('is stopped where it was claimed at the lost fence, and runs on where it was claimed again', () => {
    const place = new Workplace('worker', { options: { cachedRuns: 1, cacheBytes: 1 } } as WorkerParts);
    const stopped: number[] = [];
    for (const fence of [3, 4]) {
      const items = [{ id: 'x', fence } as ClaimedItem];
      const [item] = place.held.take({ claimId: `claim-${fence}`, items, now: 0 });
      item.stop = () => stopped.push(fence);
    }
    place.lose('x', 'lost', 3);
    expect(stopped).toEqual([3]);
    place.lose('x', 'lost');
    expect(stopped).toEqual([3, 3, 4]);
  });
});
