// Turns that wait for a process: no workflow can keep the others from theirs.

import { describe, expect, it } from '@jest/globals';
import { FairQueue, type QueueLimits, type Waiting } from './fair-queue.js';

interface Turn extends Waiting {
  suspicious: boolean;
}

const turn = (workflow: string, more: Partial<Turn> = {}): Turn => ({ workflow, suspicious: false, size: 1, ...more });
const queueOf = (limits: QueueLimits) => new FairQueue<Turn>(limits, ({ suspicious }) => suspicious);
const LIMITS = { all: 10, perWorkflow: 4, size: 100 };

describe('the queue of isolated turns', () => {
  it('lets workflows take turns, however many each has', () => {
    const queue = queueOf(LIMITS);
    for (const workflow of ['a', 'a', 'a', 'b', 'c', 'c']) queue.add(turn(workflow));
    const order = Array.from({ length: 6 }, () => queue.take(true)?.workflow);
    expect(order).toEqual(['a', 'b', 'c', 'a', 'c', 'a']);
    expect(queue.take(true)).toBeUndefined();
    expect(queue.length).toBe(0);
  });

  it('holds back suspicious turns, and not those behind them', () => {
    const queue = queueOf(LIMITS);
    queue.add(turn('a', { suspicious: true }));
    queue.add(turn('a', { size: 2 }));
    queue.add(turn('b', { suspicious: true }));
    expect(queue.take(false)).toMatchObject({ workflow: 'a', size: 2 });
    expect(queue.take(false)).toBeUndefined();
    expect([queue.take(true)?.workflow, queue.take(true)?.workflow].sort()).toEqual(['a', 'b']);
  });

  it('is limited for each workflow, in all, and in size, but takes one turn of any size', () => {
    const queue = queueOf(LIMITS);
    expect(Array.from({ length: 5 }, () => queue.add(turn('a')))).toEqual([true, true, true, true, false]);
    expect(queue.add(turn('b', { size: 97 }))).toBe(false);
    for (let n = 0; n < 6; n++) expect(queue.add(turn(`w${n}`))).toBe(true);
    expect(queue.add(turn('last'))).toBe(false);
    expect(queue.drain()).toHaveLength(10);
    expect(queue.add(turn('large', { size: 1_000 }))).toBe(true);
  });

  it('forgets a turn that is taken back', () => {
    const queue = queueOf(LIMITS);
    const [first, second] = [turn('a'), turn('a')];
    queue.add(first);
    queue.add(second);
    expect(queue.remove(first)).toBe(true);
    expect(queue.remove(first)).toBe(false);
    expect(queue.take(true)).toBe(second);
    expect(queue.length).toBe(0);
  });
});
