// The seed of every generated test: fixed, so that a run judges the change and not its luck. RHYTHM_TEST_SEED=random (or a number) explores.

import fc from 'fast-check';

const FIXED = 20_261_118;

/** What this run's generators start from; a failure prints it. */
export const generatedSeed = seedOf(process.env.RHYTHM_TEST_SEED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: generatedSeed });

function seedOf(wanted: string | undefined): number {
  if (!wanted) return FIXED;
  if (wanted === 'random') return Date.now() & 0x7fffffff;
  const seed = Number(wanted);
  if (!Number.isSafeInteger(seed)) throw new Error(`RHYTHM_TEST_SEED is ${JSON.stringify(wanted)}; it is "random" or a whole number.`);
  return seed;
}
