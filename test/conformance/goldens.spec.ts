// Every golden, in Flow in all its ways and in V8.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { askAboutGoldens } from './command.js';
import { judgeGolden } from './compare.js';
import { type Golden, readGoldens } from './golden.js';
import type { Outcome } from './outcome.js';

// The first run in a fresh clone installs Node 24.
const INSTALLING = 180_000;
const goldens = readGoldens();
let outcomes: Map<Golden, Outcome>;

beforeAll(async () => {
  outcomes = await askAboutGoldens(goldens);
}, INSTALLING);

describe('goldens', () => {
  it.each(goldens.map((golden) => [golden.path, golden] as const))('%s', (_path, golden) => {
    expect(judgeGolden(golden, outcomes.get(golden))).toEqual([]);
  });
});

it('there are at least 500 of them, and V8 is asked about most', () => {
  expect(goldens.length).toBeGreaterThanOrEqual(500);
  expect(outcomes.size).toBeGreaterThan(0.8 * goldens.length);
});
