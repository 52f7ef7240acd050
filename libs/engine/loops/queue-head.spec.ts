// A worker claims from behind its last place while claims return full, and never for long.

import { describe, expect, it } from '@jest/globals';
import type { Claim } from '../../store/index.js';
import { REAL_RUNTIME } from '../runtime.js';
import { QueueHead } from './queue-head.js';

const LIMIT = 10;
const POLL_MS = 3_600_000;
const claim = (taken: number, seq = 1): Claim => ({
  ...{ claimId: 'claim', items: [], ended: [], now: 0, lanes: false },
  ...{ taken, places: new Map([['q', { rank: 0, seq }]]) },
});
const secondsAgo = (seconds: number) => performance.now() - seconds * 1_000;

describe('the head of the queues', () => {
  it('is claimed from first, and while there is less than asked for', () => {
    const head = new QueueHead(POLL_MS, REAL_RUNTIME);
    expect(head.next()).toBeUndefined();
    expect(head.claimed(claim(LIMIT - 1), LIMIT, undefined, secondsAgo(60))).toBe(true);
    expect(head.next()).toBeUndefined();
  });

  it('is skipped after a full claim, for ten times as long as that took', () => {
    const head = new QueueHead(POLL_MS, REAL_RUNTIME);
    expect(head.claimed(claim(LIMIT, 7), LIMIT, undefined, secondsAgo(60))).toBe(false);
    expect(head.next()?.get('q')).toEqual({ rank: 0, seq: 7 });
    const behind = head.next();
    // After one that took no time it is next again at once; claims further back do not put that off.
    head.claimed(claim(LIMIT, 8), LIMIT, undefined, performance.now());
    head.claimed(claim(LIMIT, 9), LIMIT, behind, secondsAgo(60));
    const soon = performance.now() + 1;
    while (performance.now() < soon);
    expect(head.next()).toBeUndefined();
  });

  it('is claimed from as often as the queues are polled, however long that took', () => {
    const head = new QueueHead(0, REAL_RUNTIME);
    head.claimed(claim(LIMIT), LIMIT, undefined, secondsAgo(60));
    expect(head.next()).toBeUndefined();
  });

  it('is next again, without a pause, when there is little behind the place', () => {
    const head = new QueueHead(POLL_MS, REAL_RUNTIME);
    head.claimed(claim(LIMIT), LIMIT, undefined, secondsAgo(60));
    const behind = head.next();
    expect(behind).toBeDefined();
    expect(head.claimed(claim(0), LIMIT, behind, secondsAgo(60))).toBe(false);
    expect(head.next()).toBeUndefined();
  });

  it('keeps the places of queues of which the last claim took nothing', () => {
    const head = new QueueHead(POLL_MS, REAL_RUNTIME);
    head.claimed(claim(LIMIT, 7), LIMIT, undefined, secondsAgo(60));
    head.claimed({ ...claim(LIMIT), places: new Map([['r', { rank: 3, seq: 9 }]]) }, LIMIT, head.next(), secondsAgo(60));
    expect([...(head.next() ?? [])]).toEqual([
      ['q', { rank: 0, seq: 7 }],
      ['r', { rank: 3, seq: 9 }],
    ]);
  });
});
