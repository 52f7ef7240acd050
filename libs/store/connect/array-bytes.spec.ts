// PostgreSQL reads from an array parameter the items that were written, whatever they contain.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { serverUrl } from '../../../test/support/index.js';
import { arrayBytes, itemsOf } from './array-bytes.js';
import { arrayText } from './array-text.js';

describe('an array parameter', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: serverUrl() });
    await client.connect();
  });
  afterAll(() => client.end());

  const forms = {
    'as bytes': (items: (string | null)[]) => arrayBytes('text', items),
    'as text': arrayText,
    'as bytes that became text again': (items: (string | null)[]) => arrayText(itemsOf(arrayBytes('text', items))),
  };
  it.each(Object.entries(forms))('returns every string, %s', async (_, write) => {
    // PostgreSQL has no text with NUL in it, and a lone surrogate is no UTF-8.
    const string = fc.string({ unit: 'binary' }).filter((each) => !each.includes('\0') && !/\p{Surrogate}/u.test(each));
    const words = fc.constantFrom(
      '',
      'NULL',
      'null',
      ' a ',
      '"',
      '\\',
      '\\"',
      '{}',
      'a,b',
      '\t\n\v\f\r',
      '\u00a0',
      '{"ok":true}',
      '\\N',
      "'",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(string, words, fc.constant(null)), { maxLength: 12 }), async (items) => {
        const { rows } = await client.query('SELECT $1::text[] AS back', [write(items)]);
        expect(rows[0].back).toEqual(items);
      }),
      { numRuns: 300 },
    );
  });

  const other: Record<string, (bytes: Buffer) => unknown> = {
    'as bytes': (bytes) => bytes,
    'as text': (bytes) => arrayText(itemsOf(bytes)),
  };
  it.each(Object.entries(other))('returns numbers and booleans, %s', async (_, write) => {
    const { rows } = await client.query(
      'SELECT $1::integer[] AS a, $2::float8[] AS b, $3::boolean[] AS c, $4::smallint[] AS d, $5::bigint[] AS e, $6::bigint[] AS f',
      [
        arrayBytes('integer', [1, null, -2_147_483_648]),
        arrayBytes('float8', [1.5, 1e300, undefined, -0.1]),
        arrayBytes('boolean', [true, false, null]),
        arrayBytes('smallint', [63, null, -32_768]),
        arrayBytes('bigint', []),
        arrayBytes('bigint', [0, 1, -1, 2 ** 31, -(2 ** 32), 2 ** 32 + 5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null]),
      ].map((bytes) => write(bytes)),
    );
    expect(rows[0]).toEqual({
      a: [1, null, -2_147_483_648],
      b: [1.5, 1e300, null, -0.1],
      c: [true, false, null],
      d: [63, null, -32_768],
      e: [],
      f: ['0', '1', '-1', '2147483648', '-4294967296', '4294967301', '9007199254740991', '-9007199254740991', null],
    });
  });

  it('refuses a number that its type cannot hold, instead of cutting it off', () => {
    expect(() => arrayBytes('smallint', [40_000])).toThrow('out of range');
    expect(() => arrayBytes('integer', [2 ** 31])).toThrow('out of range');
    expect(() => arrayBytes('bigint', [2 ** 64])).toThrow('out of range');
    expect(() => arrayBytes('bigint', [-0.5])).toThrow('out of range');
    expect(() => arrayBytes('integer', [Number.NaN])).toThrow('out of range');
  });
});
