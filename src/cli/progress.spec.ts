// Progress shows how much is done and how long the rest will take: redrawn in a terminal, a line every few seconds elsewhere.

import { describe, expect, it, jest } from '@jest/globals';
import type { CliContext } from './command.js';
import { Progress } from './progress.js';

function progressWith(errIsTty: boolean) {
  const drawn: string[] = [];
  const noted: string[] = [];
  const context = {
    terminal: { errIsTty },
    redraw: (text: string) => drawn.push(text),
    note: (text: string) => noted.push(text),
  } as unknown as CliContext;
  return { drawn, noted, progress: new Progress(context, 'retry', 400) };
}

describe('progress', () => {
  it('draws a bar with its numbers and an estimate at most ten times a second, and removes it at the end', () => {
    jest.useFakeTimers();
    try {
      const { drawn, progress } = progressWith(true);
      progress.add(50);
      expect(drawn).toEqual([]);
      jest.advanceTimersByTime(1_000);
      progress.add(50);
      progress.add(1);
      expect(drawn).toEqual(['retry  ██████░░░░░░░░░░░░░░░░░░  100 of 400  25%  3.0s left']);
      jest.advanceTimersByTime(1_000);
      progress.add(299);
      progress.end();
      expect(drawn.slice(1)).toEqual([`retry  ${'█'.repeat(24)}  400 of 400  100%`, '']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes a line every few seconds outside a terminal', () => {
    jest.useFakeTimers();
    try {
      const { drawn, noted, progress } = progressWith(false);
      for (let second = 0; second < 11; second++) {
        jest.advanceTimersByTime(1_000);
        progress.add(20);
      }
      expect([drawn, noted.length]).toEqual([[], 2]);
    } finally {
      jest.useRealTimers();
    }
  });
});
