// The seed of every generated test: fixed, so that results do not depend on chance. RHYTHM_TEST_SEED=random (or a number) sets another.

import fc from 'fast-check';

const FIXED = 20_261_118;

/** The seed of this run; a failure prints it. */
export const generatedSeed = seedOf(process.env.RHYTHM_TEST_SEED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: generatedSeed });

function seedOf(value: string | undefined): number {
  if (!value) return FIXED;
  if (value === 'random') return Date.now() & 0x7fffffff;
  const seed = Number(value);
  if (!Number.isSafeInteger(seed)) throw new Error(`RHYTHM_TEST_SEED is ${JSON.stringify(value)}. Set it to "random" or a whole number.`);
  return seed;
}
