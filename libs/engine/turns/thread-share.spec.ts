// Turns that each end within a slice do not hold the event loop together.

import { describe, expect, it } from '@jest/globals';
import { REAL_RUNTIME } from '../runtime.js';
import { ThreadShare } from './thread-share.js';

describe('the thread', () => {
  it('is free for short turns, however many there are', () => {
    const thread = new ThreadShare(REAL_RUNTIME);
    for (let turn = 0; turn < 100; turn++) thread.count(0.02);
    expect(thread.wait()).toBeUndefined();
  });

  it('goes to the I/O that is due after turns that took a few slices together, and is free again then', async () => {
    const thread = new ThreadShare(REAL_RUNTIME);
    const order: string[] = [];
    setImmediate(() => order.push('I/O'));
    for (let turn = 0; turn < 4; turn++) thread.count(1.5);
    const wait = thread.wait();
    expect(wait).toBeInstanceOf(Promise);
    await wait;
    order.push('turn');
    expect(order).toEqual(['I/O', 'turn']);
    expect(thread.wait()).toBeUndefined();
  });

  it('lets those that wait for it begin in their order, a few slices at a time', async () => {
    const thread = new ThreadShare(REAL_RUNTIME);
    const begun: number[] = [];
    let rounds = 0;
    let isOver = false;
    const round = () => {
      rounds++;
      if (!isOver) setImmediate(round);
    };
    setImmediate(round);
    const turn = async (n: number) => {
      for (let wait = thread.wait(); wait; wait = thread.wait()) await wait;
      begun.push(n);
      thread.count(4);
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => turn(n)));
    isOver = true;
    expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(rounds).toBeGreaterThanOrEqual(9);
  });
});
