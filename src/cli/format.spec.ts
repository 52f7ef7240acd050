// The format of times in a terminal.

import { describe, expect, it } from '@jest/globals';
import { took } from './format.js';

describe('how long a run took', () => {
  const at = (ms: number) => new Date(1_800_000_000_000 + ms);

  it('is shown for what has run', () => {
    expect(took({ status: 'completed', attempts: 0, startedAt: at(0), finishedAt: at(850) })).toBe('850ms');
    expect(took({ status: 'pending', attempts: 1, startedAt: new Date(Date.now() - 30_500), finishedAt: null })).toBe('30s');
  });

  it('is empty for what has not run', () => {
    expect(took({ status: 'pending', attempts: 0, startedAt: null, finishedAt: null })).toBe('');
    expect(took({ status: 'pending', attempts: 0, startedAt: at(0), finishedAt: null })).toBe('');
  });
});
