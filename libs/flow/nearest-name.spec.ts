// The name that a typo was meant to be.

import { describe, expect, it } from '@jest/globals';
import { nearestName } from './nearest-name.js';

describe('the nearest name', () => {
  it.each([
    ['lenght', ['length', 'left'], 'length'],
    ['MATH', ['Math', 'MATE'], 'Math'],
    ['max_connections', ['maxConnection', 'maxConnections'], 'maxConnections'],
    ['poll-interval', ['pollInterval'], 'pollInterval'],
    ['RHYTHM_WORKER_CONCURENCY', ['RHYTHM_WORKER_CONCURRENCY'], 'RHYTHM_WORKER_CONCURRENCY'],
    ['RHYTHM_MAX_CONECTIONS_PER', ['RHYTHM_MAX_CONNECTIONS'], 'RHYTHM_MAX_CONNECTIONS'],
    ['x', ['y', 'z'], undefined],
    ['id', ['to', 'at'], undefined],
    ['customer', ['order', 'total'], undefined],
    ['', ['a'], undefined],
  ])('of %p among %p is %p', (name, candidates, nearest) => {
    expect(nearestName(name, candidates)).toBe(nearest);
  });
});
