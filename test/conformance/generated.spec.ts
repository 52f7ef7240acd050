// Generated programs mean the same in every way of running them and in V8.
import { expect, it } from '@jest/globals';
import { generatedSeed } from '../support/generated-seed.js';
import { judgeGenerated } from './judge-generated.js';

const RUNS = 300;
const BOUND = 180_000;

it(
  `${RUNS} generated programs agree in every way; npm run conformance -- --seed N shows one again`,
  async () => {
    const { seed, failures } = await judgeGenerated({ runs: RUNS, seed: generatedSeed });
    expect({ seed, failures }).toEqual({ seed, failures: [] });
  },
  BOUND,
);
