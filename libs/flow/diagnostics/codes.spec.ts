// Every code of the tables is used and explained in full, and every refusal has a correction that is accepted.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { check } from '../index.js';
import { DEFAULT_LIMITS } from '../limits.js';
import { FLOW_CODES, REFUSALS, type RefusalCode } from './codes.js';
import { RUN_ERRORS, THROWN_ERRORS } from './error-codes.js';

/** Programs that are too large to be written in the table. */
const LARGE: Partial<Record<RefusalCode, string>> = {
  FLOW_SOURCE_TOO_LONG: ' '.repeat(DEFAULT_LIMITS.sourceLength + 1),
  FLOW_TOO_LARGE: `let ${Array.from({ length: 10_001 }, (_, n) => `v${n}`).join(', ')}`,
};

describe.each(Object.keys(REFUSALS) as RefusalCode[])('%s', (code) => {
  const { example, instead } = REFUSALS[code];

  it('is the code that its example is refused with', () => {
    const found = check(LARGE[code] ?? example, { file: 'example.flow' });
    expect(found.map((one) => one.code)).toContain(code);
    for (const one of found) {
      expect(one).toMatchObject({ severity: 'error', file: 'example.flow', line: expect.any(Number), column: expect.any(Number) });
      expect(`${one.message} ${one.advice}`).not.toMatch(/\{\w+\}|undefined/);
      expect(one.message).not.toMatch(/\.$/);
      expect(one.advice).not.toBe('');
    }
  });

  if (instead !== undefined) {
    it('is avoided by the correction in the table', () => {
      expect(check(instead)).toEqual([]);
    });
  }
});

describe('the table of codes', () => {
  const used = codesIn(join(process.cwd(), 'libs/flow'));

  it('lists every code that the language uses', () => {
    expect([...used].filter((code) => !Object.hasOwn(FLOW_CODES, code))).toEqual([]);
  });

  it('lists no code that is never used', () => {
    expect(Object.keys(FLOW_CODES).filter((code) => !used.has(code))).toEqual([]);
  });

  it('explains what each error means and what to do', () => {
    for (const { meaning, advice } of Object.values({ ...RUN_ERRORS, ...THROWN_ERRORS })) {
      expect(meaning).toMatch(/^[a-z].+[^.]$/);
      expect(advice).toMatch(/^[A-Z].+\.$/);
    }
  });
});

/** The codes in the sources of a folder, without the tables themselves and without specs. */
function codesIn(folder: string): Set<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.ts$/.test(file) && !/\.spec\.ts$/.test(file) && !/^diagnostics[\\/]/.test(file),
  );
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(/(?<=')FLOW_[A-Z_]+(?=')/g)].map(([code]) => code)));
}
