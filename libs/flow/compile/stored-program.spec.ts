// Programs that are stored as text and loaded again: every constant survives, and the run has the same result.

import { describe, expect, it } from '@jest/globals';
import { outputOf } from '../../../test/support/flow-driver.js';
import { compile, FlowSnapshotError, loadProgram, saveProgram } from '../index.js';

describe('the constants of a stored program', () => {
  it.each([
    ['Infinity', 'return String([1e999, 2e308])'],
    ['-Infinity', 'return String([-1e999, 1 / -1e999])'],
    ['-0', 'return [Object.is(-0, -0), Object.is(-1e-999, -0), Object.is(1e-999, 0), String(1 / -0)]'],
    ['NaN', 'return String([NaN, 1e999 - 1e999, -NaN])'],
    [
      'the smallest and the largest numbers',
      'return [5e-324, -5e-324, 1.7976931348623157e308, 9007199254740993, 4294967296, -2147483649, 0.1]',
    ],
    ['lone surrogates', 'return ["\\ud800", "a\\udc00b", `\\ud83d`].map((s) => [s.length, s.charCodeAt(0), s.isWellFormed()])'],
    [
      'characters that JSON or PostgreSQL escape',
      'return ["\\0", "\\u2028\\u2029", "\\"\\\\", "\\x7f", "__proto__"].map((s) => s.charCodeAt(0))',
    ],
    ['keys', 'const o = { 1e999: 1, "\\ud800": 2, ["__proto__"]: 3, 1e-999: 4 }; return Object.keys(o).map((key) => key.length)'],
    ['names of functions', 'const o = { "\\udc00": () => 1, 1e999: () => 2 }; return Object.values(o).map((f) => [f.name.length, f()])'],
    ['an array that only looks like a number', 'return [["Infinity"], "Infinity", [1e999 === Infinity]]'],
  ])('keep %s', (_what, source) => {
    const program = compile(source);
    const loaded = loadProgram(saveProgram(program));
    expect(loaded).toEqual(program);
    expect(outputOf(loaded)).toEqual(outputOf(program));
    expect(saveProgram(loaded)).toBe(saveProgram(program));
  });

  it.each([null, true, {}, [], ['NaN'], ['toString'], ['Infinity', 1], [1], [['Infinity']]])('are refused when one is %j', (constant) => {
    const stored = JSON.parse(saveProgram(compile('return 1e999')));
    stored.constants[0] = constant;
    expect(() => loadProgram(JSON.stringify(stored))).toThrow(FlowSnapshotError);
  });
});
