// What a worker does with an execution that was taken from it.

import { describe, expect, it } from '@jest/globals';
import type { ClaimedItem, Notifications } from '../../store/index.js';
import { REAL_RUNTIME } from '../runtime.js';
import { VmCache } from '../turns/vm-cache.js';
import { HeldWork } from './held-work.js';
import { Stopper } from './stopper.js';

describe('an execution that was taken away', () => {
  it('is stopped where it was claimed at the lost fence, and runs on where it was claimed again', () => {
    const held = new HeldWork(REAL_RUNTIME);
    const stopper = new Stopper(held, new VmCache(1, 1), { on: () => () => undefined } as unknown as Notifications);
    const stopped: number[] = [];
    for (const fence of [3, 4]) {
      const items = [{ id: 'x', fence } as ClaimedItem];
      const [item] = held.take({ claimId: `claim-${fence}`, items, now: 0 });
      item.running = { stop: () => stopped.push(fence) };
    }
    stopper.stop('x', 'lost', 3);
    expect(stopped).toEqual([3]);
    stopper.stop('x', 'lost');
    expect(stopped).toEqual([3, 3, 4]);
  });
});
