// Ids: the root of a tree of runs, and the bucket that all of it shares.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ancestorsOf, bucketOf, bucketOfRelative, childId, depthOf, keyedId, newId, rootOf } from './ids.js';

describe('ids', () => {
  it('find the root of a run below user-given, generated and keyed ids', () => {
    expect(rootOf('order-7')).toBe('order-7');
    expect(rootOf('order-7:3:12')).toBe('order-7');
    expect(rootOf(`${keyedId('pay:card', '12')}:4`)).toBe('key:pay%3Acard:12');
    expect(rootOf('cron:nightly:2026-01-01T00%3A00')).toBe('cron:nightly:2026-01-01T00%3A00');
  });

  it('put a whole tree into one bucket, and different names or keys into different ids', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), (name, key, call) => {
        const id = keyedId(name, key);
        expect(bucketOf(childId(childId(id, call), 1))).toBe(bucketOf(id));
        expect(rootOf(childId(id, call))).toBe(id);
        expect(keyedId(`${name}:`, key)).not.toBe(keyedId(name, `:${key}`));
      }),
    );
  });

  it('tell the bucket of a parent or child from one of the two, even when the child has an id of its own', () => {
    const given = fc.string({ minLength: 1 }).filter((id) => !id.includes(':') && id !== 'key' && id !== 'cron');
    fc.assert(
      fc.property(given, given, fc.nat(), (parentId, ownId, call) => {
        for (const id of [childId(parentId, call), childId(childId(parentId, 1), call), ownId]) {
          const parent = id === ownId || id === childId(parentId, call) ? parentId : childId(parentId, 1);
          expect(bucketOfRelative(id, { id: parent, bucket: bucketOf(parent) })).toBe(bucketOf(id));
          expect(bucketOfRelative(parent, { id, bucket: bucketOf(id) })).toBe(bucketOf(parent));
        }
      }),
    );
  });

  it('are UUIDs of version 7 that sort in the order in which they were made, however many a millisecond has', () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, newId);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    const madeAt = Number.parseInt(ids[0].replace('-', '').slice(0, 12), 16);
    expect(madeAt).toBeGreaterThanOrEqual(before);
    expect(new Set(ids.map((id) => id.slice(19))).size).toBe(ids.length);
  });

  it('spread over all buckets', () => {
    const seen = new Set(Array.from({ length: 100_000 }, () => bucketOf(newId())));
    expect(seen.size).toBe(4_096);
    expect(Math.max(...seen)).toBe(4_095);
  });

  it('count the calls below the root, and name what is above', () => {
    expect(depthOf('order-1')).toBe(0);
    expect(depthOf('key:order:7')).toBe(0);
    expect(depthOf('key:order:7:3:12')).toBe(2);
    expect(ancestorsOf('key:order:7:3:12')).toEqual([
      { ancestor: 'key:order:7:3', below: 'key:order:7:3:12' },
      { ancestor: 'key:order:7', below: 'key:order:7:3' },
    ]);
    expect(ancestorsOf('order-1')).toEqual([]);
  });
});
