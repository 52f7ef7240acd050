// Every refusal of the table happens, is explained in full, and has a way out that is accepted.

import { describe, expect, it } from '@jest/globals';
import type { Diagnostic } from '../errors.js';
import { parse } from '../parse/index.js';
import { checkSyntax } from './index.js';
import { REFUSALS, type RefusalCode } from './refusals.js';

const LIMIT = 10_000;

function diagnose(source: string): Diagnostic[] {
  const { ast, diagnostics } = parse(source, { file: 'example.flow', limits: { sourceLength: LIMIT } });
  return ast ? [...diagnostics, ...checkSyntax(ast, source, 'example.flow')] : diagnostics;
}

describe.each(Object.keys(REFUSALS) as RefusalCode[])('%s', (code) => {
  const refusal = REFUSALS[code];

  it('is what its example is refused for', () => {
    const found = diagnose(code === 'FLOW_SOURCE_TOO_LONG' ? ' '.repeat(LIMIT + 1) : refusal.example);
    expect(found.map((one) => one.code)).toContain(code);
    for (const one of found) {
      expect(one).toMatchObject({ file: 'example.flow', line: expect.any(Number), column: expect.any(Number) });
      expect(`${one.message} ${one.advice}`).not.toMatch(/\{\w+\}|undefined/);
      expect(one.advice).not.toBe('');
    }
  });

  const { instead } = refusal as { instead?: string };
  if (instead !== undefined) {
    it('is avoided by what the table says instead', () => {
      expect(diagnose(instead)).toEqual([]);
    });
  }
});
