// Which claims of a worker may get more items.

import { describe, expect, it } from '@jest/globals';
import { REAL_RUNTIME } from '../runtime.js';
import { HeldWork } from './held-work.js';

describe('HeldWork', () => {
  it('adds nothing to a claim whose row is about to be deleted', () => {
    const held = new HeldWork(REAL_RUNTIME);
    held.openClaim('spent', 1);
    held.unreserve('spent', 1);
    expect(held.reserve('spent', 1)).toBe(false);
    const ending = held.begin([]);
    expect(ending.claims).toEqual(['spent']);
    expect(held.reserve('spent', 1)).toBe(false);
    held.finish(ending);
    expect(held.reserve('spent', 1)).toBe(false);
    held.openClaim('open', 1);
    expect(held.reserve('open', 1)).toBe(true);
  });
});
