// How times read in a terminal.

import { describe, expect, it } from '@jest/globals';
import { took } from './wording.js';

describe('how long a run took', () => {
  const at = (ms: number) => new Date(1_800_000_000_000 + ms);

  it('is said of what has run', () => {
    expect(took({ status: 'completed', attempts: 0, startedAt: at(0), finishedAt: at(850) })).toBe('850ms');
    expect(took({ status: 'pending', attempts: 1, startedAt: new Date(Date.now() - 30_500), finishedAt: null })).toBe('30s');
  });

  it('is not said of what has not', () => {
    expect(took({ status: 'pending', attempts: 0, startedAt: null, finishedAt: null })).toBe('');
    expect(took({ status: 'pending', attempts: 0, startedAt: at(0), finishedAt: null })).toBe('');
  });
});
