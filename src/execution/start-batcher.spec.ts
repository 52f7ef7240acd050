// Single starts that are made at the same time share a statement, and one that cannot be stored fails alone.

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { NewExecution, Runner } from '../../libs/store/index.js';
import { StartBatcher, sortedForLocking } from './start-batcher.js';

const execution = (id: string, input?: string): NewExecution => ({ id, type: 'task', targetName: 't', queue: 'q', input });

/** Stores every id it is given, except that it refuses a whole statement that holds a refused one. */
function fakeStore(refused: string[] = []): Runner & { statements: string[][] } {
  const statements: string[][] = [];
  return {
    statements,
    async rows(_statement, values = []) {
      const ids = textsOf(values[0] as Buffer);
      statements.push(ids);
      await new Promise((resolve) => setImmediate(resolve));
      if (ids.some((id) => refused.includes(id))) throw Object.assign(new pg.DatabaseError('invalid byte', 0, 'error'), { code: '22021' });
      return [{ ids }] as never;
    },
  };
}

// An array of texts in PostgreSQL's binary format: a header of twenty bytes, then each text after its length.
function textsOf(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 20; at < bytes.length; ) {
    const end = at + 4 + bytes.readInt32BE(at);
    texts.push(bytes.toString('utf8', at + 4, end));
    at = end;
  }
  return texts;
}

describe('single starts', () => {
  it('made at the same time share a statement', async () => {
    const store = fakeStore();
    const batcher = new StartBatcher(store);
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => batcher.start(execution(`e${n}`))));
    expect(outcomes.map(({ id, outcome }) => [id, outcome])).toEqual(Array.from({ length: 100 }, (_, n) => [`e${n}`, 'created']));
    expect(store.statements).toHaveLength(1);
  });

  it('gather while others are in flight', async () => {
    const store = fakeStore();
    const batcher = new StartBatcher(store);
    const all: Promise<unknown>[] = [];
    for (let n = 0; n < 50; n++) {
      all.push(batcher.start(execution(`e${n}`)));
      if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    expect(store.statements.flat()).toHaveLength(50);
    expect(store.statements.length).toBeLessThan(50);
  });

  it('are limited in rows and bytes', async () => {
    const store = fakeStore();
    const batcher = new StartBatcher(store);
    const large = JSON.stringify('x'.repeat(3 * 1024 * 1024));
    await Promise.all([
      ...Array.from({ length: 2_500 }, (_, n) => batcher.start(execution(`s${n}`))),
      ...['a', 'b'].map((id) => batcher.start(execution(id, large))),
    ]);
    expect(store.statements.every((ids) => ids.length <= 1_000)).toBe(true);
    expect(store.statements.some((ids) => ids.includes('a') && ids.includes('b'))).toBe(false);
  });

  it('that cannot be stored fail alone, each with its own error', async () => {
    const batcher = new StartBatcher(fakeStore(['bad']));
    const [good, bad, fine] = await Promise.allSettled(['good', 'bad', 'fine'].map((id) => batcher.start(execution(id))));
    expect([good?.status, bad?.status, fine?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((bad as PromiseRejectedResult).reason).toMatchObject({ code: '22021' });
  });

  it('are locked in a fixed order, so that two statements never wait for each other', () => {
    const named = Array.from({ length: 50 }, (_, n) => ({ id: `id-${n}` }));
    expect(sortedForLocking(named, (one) => one)).toEqual(sortedForLocking([...named].reverse(), (one) => one));
  });

  it('with new ids stay in the order in which they were made', () => {
    const fresh = Array.from({ length: 50 }, (_, n) => ({ id: `id-${n}`, fresh: true }));
    expect(sortedForLocking(fresh, (one) => one)).toEqual(fresh);
  });
});
