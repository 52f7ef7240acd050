// Offsets to lines and columns.

import { describe, expect, it } from '@jest/globals';
import { LineMap } from './line-map.js';

describe('LineMap', () => {
  it('counts lines and columns from one', () => {
    const lines = new LineMap('ab\ncd\n');
    expect(lines.placeOf(0)).toEqual({ line: 1, column: 1 });
    expect(lines.placeOf(2)).toEqual({ line: 1, column: 3 });
    expect(lines.placeOf(3)).toEqual({ line: 2, column: 1 });
    expect(lines.placeOf(6)).toEqual({ line: 3, column: 1 });
  });

  it('splits at every line terminator of JavaScript, with CR LF as one', () => {
    const lines = new LineMap('a\r\nb\rc\u2028d\u2029e\nf');
    expect(lines.lineCount).toBe(6);
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((_, i) => lines.textOf(i + 1))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('moves offsets outside of the text to its ends', () => {
    const lines = new LineMap('abc');
    expect(lines.placeOf(-5)).toEqual({ line: 1, column: 1 });
    expect(lines.placeOf(99)).toEqual({ line: 1, column: 4 });
  });
});
