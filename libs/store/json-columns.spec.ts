// Which JSON texts need a verbatim copy, checked against PostgreSQL itself.

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
    expect(jsonColumns(undefined)).toEqual({ readable: null, verbatim: null });
    expect(jsonColumns('null')).toEqual({ readable: 'null', verbatim: null });
  });

  it('keeps no second copy of what PostgreSQL can read, in whatever order its keys are', () => {
    for (const text of ['1', '"a"', '[1,{"b":1,"a":2}]', '{"1":{"bb":1,"a":-0}}', '"😀"']) {
      expect(jsonColumns(text)).toEqual({ readable: text, verbatim: null });
    }
  });

  it('gives every value back through the two columns, whatever it holds', async () => {
    const anything = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anything, fc.string({ unit: 'binary' }), fc.dictionary(fc.string({ unit: 'binary' }), anything)),
        async (value) => {
          const text = JSON.stringify(value);
          const columns = jsonColumns(text);
          const { rows } = await client.query('SELECT coalesce($2::json::text, $1::json::text) AS back, $1::json::jsonb AS queried', [
            columns.readable,
            columns.verbatim,
          ]);
          expect(rows[0].back).toBe(text);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('shows people what PostgreSQL cannot read as U+FFFD', async () => {
    const { readable, verbatim } = jsonColumns(JSON.stringify({ a: 'nul \0 lone \ud800 pair 😀' }));
    expect(verbatim).not.toBeNull();
    const { rows } = await client.query(`SELECT $1::json->>'a' AS a`, [readable]);
    expect(rows[0].a).toBe('nul \ufffd lone \ufffd pair 😀');
  });
});
