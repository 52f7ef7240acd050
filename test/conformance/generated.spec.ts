// Generated programs have the same outcome in every way of running them and in V8.
import { expect, it } from '@jest/globals';
import { generatedSeed } from '../support/generated-seed.js';
import { judgeGenerated } from './judge-generated.js';

const RUNS = Number(process.env.RHYTHM_TEST_RUNS ?? 300);
if (!(Number.isSafeInteger(RUNS) && RUNS > 0)) throw new Error('RHYTHM_TEST_RUNS must be the number of programs to generate.');
const BOUND = 180_000;

it(
  `${RUNS} generated programs agree in every way; npm run conformance -- --seed N runs them again`,
  async () => {
    const { seed, failures } = await judgeGenerated({ runs: RUNS, seed: generatedSeed });
    expect({ seed, failures }).toEqual({ seed, failures: [] });
  },
  BOUND,
);
