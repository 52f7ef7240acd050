// What every engine spec shares: a harness per test on the file's database, closed afterwards, and no trouble unheard.

import { afterEach, expect } from '@jest/globals';
import { useTestDatabase } from '../support/index.js';
import { Harness, type HarnessOptions } from './harness.js';

/** For the top of a describe. `open` makes the test's harness; a test that expects trouble says so with `troubled`. */
export function useHarness(): {
  open(options: Omit<HarnessOptions, 'url' | 'schema'>): Promise<Harness>;
  troubled(): void;
  readonly url: string;
  readonly schema: string;
} {
  const database = useTestDatabase();
  let harness: Harness | undefined;
  let expectTrouble = false;
  afterEach(async () => {
    const troubles = harness?.troubles() ?? [];
    await harness?.close();
    harness = undefined;
    const expected = expectTrouble;
    expectTrouble = false;
    if (!expected) expect(troubles).toEqual([]);
  });
  return {
    async open(options) {
      harness = await Harness.open({ url: database.url, schema: database.schema, ...options });
      return harness;
    },
    troubled() {
      expectTrouble = true;
    },
    get url() {
      return database.url;
    },
    get schema() {
      return database.schema;
    },
  };
}
