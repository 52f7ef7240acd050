// Values of literals, compared with those of JavaScript.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cook, numberValue } from './literals.js';

const never = (code: string): never => {
  throw new Error(code);
};

function reported(read: (report: (code: string) => void) => unknown): string[] {
  const found: string[] = [];
  read((code) => found.push(code));
  return found;
}

describe('numbers', () => {
  it('have the value that JavaScript gives them', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: 0, noDefaultInfinity: true }), (value) => {
        expect(numberValue(String(value), never)).toBe(value);
        expect(numberValue(value.toExponential(), never)).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.nat(), (value) => {
        for (const [prefix, base] of [
          ['0x', 16],
          ['0o', 8],
          ['0b', 2],
        ] as const) {
          expect(numberValue(prefix + value.toString(base), never)).toBe(value);
        }
      }),
    );
  });

  it('may have a separator between two digits and nowhere else', () => {
    for (const good of ['1_0', '0xf_f', '1_0.0_1e1_0', '0b1_0']) numberValue(good, never);
    for (const bad of ['1__0', '1_', '0x_1', '1_.0', '1._0', '1e_1', '1_e1', '0_1', '1_n']) {
      expect(reported((report) => numberValue(bad, report))).not.toEqual([]);
    }
  });

  it('are refused with leading zeros, missing digits or letters after them', () => {
    for (const bad of ['010', '08', '00', '0x', '0b2', '0o8', '1e', '1e+', '3in', '1.toFixed', '0xg', '1.5n', '1e3n']) {
      expect(reported((report) => numberValue(bad, report))).toHaveLength(1);
    }
  });
});

describe('strings', () => {
  it('are read as JSON reads them where both have the escape', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(cook(JSON.stringify(value).slice(1, -1), never)).toBe(value);
      }),
    );
  });

  it('accept every escape of JavaScript', () => {
    expect(cook('\\b\\f\\n\\r\\t\\v\\0\\\'\\"\\\\\\a\\-', never)).toBe('\b\f\n\r\t\v\0\'"\\a-');
    expect(cook('\\x41\\u0042\\u{43}\\u{01F600}\\ud83d\\ude00', never)).toBe('ABC😀😀');
    expect(cook('a\\\nb\\\r\nc\\\u2028d\\\u2029e', never)).toBe('abcde');
  });

  it('are refused with the place of a wrong escape', () => {
    const found: unknown[] = [];
    cook('ab\\u{zz}c\\7', (code, start, end) => found.push([code, start, end]));
    expect(found).toEqual([
      ['FLOW_ESCAPE', 2, 8],
      ['FLOW_OCTAL', 9, 11],
    ]);
  });
});
