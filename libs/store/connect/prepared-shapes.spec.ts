// A connection keeps a bounded number of commit shapes prepared, and those that it uses most stay prepared.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { Store } from '../store.js';
import { PreparedShapes } from './prepared-shapes.js';
import { type Statement, sql } from './statement.js';

const shape = (n: number): Statement => ({ name: `rhythm_shape_${n}`, text: `SELECT ${n} + $1::integer AS n`, isShape: true });

describe('prepared shapes', () => {
  const database = useTestDatabase();
  let store: Store;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
  });
  afterAll(() => store.close());

  it('are bounded in number on a connection, and give the same results prepared or not', async () => {
    const link = store.link();
    const shapes = Array.from({ length: 300 }, (_, n) => shape(n));
    for (let round = 1; round <= 40; round++) {
      const results = await Promise.all(shapes.map((one) => link.rows<{ n: number }>(one, [round])));
      expect(results.map(([row]) => row.n)).toEqual(shapes.map((_, n) => n + round));
    }
    const names = await link.rows<{ name: string }>(sql('spec', `SELECT name FROM pg_prepared_statements WHERE name LIKE 'rhythm_shape%'`));
    expect(names.length).toBeLessThanOrEqual(48);
    await link.close();
  });

  it('are those that are used most', async () => {
    const link = store.link();
    const hot = shape(0);
    for (let n = 1; n <= 60; n++) for (let use = 0; use < 2; use++) await link.rows(shape(n), [1]);
    for (let use = 0; use < 64; use++) await link.rows(hot, [1]);
    const names = await link.rows<{ name: string }>(
      sql('spec', `SELECT name FROM pg_prepared_statements WHERE name LIKE 'rhythm_shape_0_%'`),
    );
    expect(names).toHaveLength(1);
    await link.close();
  });

  it('are not prepared for a single use, and give way to others in time', () => {
    const shapes = new PreparedShapes(2);
    expect(shapes.use(shape(1))).toEqual({});
    const [a, b, c] = [shape(1), shape(2), shape(3)];
    for (const one of [a, b]) for (let n = 0; n < 3; n++) shapes.use(one);
    const { name } = shapes.use(a);
    expect(name).toBeDefined();
    const sent = Array.from({ length: 16 }, () => shapes.use(c));
    expect(sent.filter((one) => one.name !== undefined)).toHaveLength(1);
    expect(sent.at(-1)?.drop).toMatch(/^rhythm_shape_2_/);
    expect(shapes.use(b).name).toBeUndefined();
  });
});
