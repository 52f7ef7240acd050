// Array literals mean to PostgreSQL what the items were, whatever they hold.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { serverUrl } from '../../test/support/index.js';
import { arrayText } from './array-text.js';

describe('arrayText', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: serverUrl() });
    await client.connect();
  });
  afterAll(() => client.end());

  it('gives every text back', async () => {
    // PostgreSQL has no text with NUL in it, and a lone surrogate is no UTF-8.
    const text = fc.string({ unit: 'binary' }).filter((each) => !each.includes('\0') && !/\p{Surrogate}/u.test(each));
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
      fc.asyncProperty(fc.array(fc.oneof(text, words, fc.constant(null)), { maxLength: 12 }), async (items) => {
        const { rows } = await client.query('SELECT $1::text[] AS back', [arrayText(items)]);
        expect(rows[0].back).toEqual(items);
      }),
      { numRuns: 300 },
    );
  });

  it('gives numbers and booleans back', async () => {
    const { rows } = await client.query('SELECT $1::integer[] AS a, $2::float8[] AS b, $3::boolean[] AS c', [
      arrayText([1, null, -2_147_483_648]),
      arrayText([1.5, 1e300, undefined]),
      arrayText([true, false, null]),
    ]);
    expect(rows[0]).toEqual({ a: [1, null, -2_147_483_648], b: [1.5, 1e300, null], c: [true, false, null] });
  });
});
