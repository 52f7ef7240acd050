// Every golden, in Flow in all its ways and in V8.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runGoldensInV8 } from './command.js';
import { judgeGolden } from './compare.js';
import { type Golden, readGoldens } from './golden.js';
import type { Outcome } from './outcome.js';

// The first run in a fresh clone installs Node 24.
const INSTALLING = 180_000;
const goldens = readGoldens();
let outcomes: Map<Golden, Outcome>;

beforeAll(async () => {
  outcomes = await runGoldensInV8(goldens);
}, INSTALLING);

describe('goldens', () => {
  it.each(goldens.map((golden) => [golden.path, golden] as const))('%s', (_path, golden) => {
    expect(judgeGolden(golden, outcomes.get(golden))).toEqual([]);
  });
});

it('there are at least 500 of them, and most run in V8 too', () => {
  expect(goldens.length).toBeGreaterThanOrEqual(500);
  expect(outcomes.size).toBeGreaterThan(0.8 * goldens.length);
});
