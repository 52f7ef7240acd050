// What every engine spec shares: a harness per test on the file's database, closed afterwards, and a failure for every problem that is not expected.

import { afterEach, expect } from '@jest/globals';
import { useTestDatabase } from '../support/index.js';
import { Harness, type HarnessOptions } from './harness.js';

/** For the top of a describe. `open` makes the test's harness; a test that expects problems calls `expectProblems`. */
export function useHarness(): {
  open(options: Omit<HarnessOptions, 'url' | 'schema'>): Promise<Harness>;
  expectProblems(): void;
  readonly url: string;
  readonly schema: string;
} {
  const database = useTestDatabase();
  let harness: Harness | undefined;
  let isProblemExpected = false;
  afterEach(async () => {
    const problems = harness?.problems() ?? [];
    await harness?.close();
    harness = undefined;
    const expected = isProblemExpected;
    isProblemExpected = false;
    if (!expected) expect(problems).toEqual([]);
  });
  return {
    async open(options) {
      harness = await Harness.open({ url: database.url, schema: database.schema, ...options });
      return harness;
    },
    expectProblems() {
      isProblemExpected = true;
    },
    get url() {
      return database.url;
    },
    get schema() {
      return database.schema;
    },
  };
}
