// Which JSON texts need their verbatim copy, checked against what jsonb really does.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { serverUrl } from '../../test/support/index.js';
import { jsonColumns } from './json-columns.js';

describe('jsonColumns', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: serverUrl() });
    await client.connect();
  });
  afterAll(() => client.end());

  it('stores undefined as nothing and null as null', () => {
    expect(jsonColumns(undefined)).toEqual({ jsonb: null, verbatim: null });
    expect(jsonColumns('null')).toEqual({ jsonb: 'null', verbatim: null });
  });

  it('keeps no second copy where jsonb gives the same value back', () => {
    for (const text of ['1', '"a"', '[1,{"a":1,"b":2}]', '{"a":{"aa":1,"ab":2}}']) expect(jsonColumns(text).verbatim).toBeNull();
  });

  it('gives every value back through the two columns, whatever it holds', async () => {
    const anything = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anything, fc.string({ unit: 'binary' }), fc.dictionary(fc.string({ unit: 'binary' }), anything)),
        async (value) => {
          const text = JSON.stringify(value);
          const { jsonb, verbatim } = jsonColumns(text);
          const { rows } = await client.query('SELECT coalesce($2::json::text, $1::jsonb::text) AS back', [jsonb, verbatim]);
          expect(JSON.stringify(JSON.parse(rows[0].back))).toBe(text);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('shows people what jsonb refuses as U+FFFD', async () => {
    const { jsonb, verbatim } = jsonColumns(JSON.stringify({ a: 'nul \0 lone \ud800 pair 😀' }));
    expect(verbatim).not.toBeNull();
    const { rows } = await client.query(`SELECT $1::jsonb->>'a' AS a`, [jsonb]);
    expect(rows[0].a).toBe('nul \ufffd lone \ufffd pair 😀');
  });
});
