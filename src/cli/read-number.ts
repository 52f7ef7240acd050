// Reads the number of a flag.

import { UsageError } from './usage-error.js';

/** A whole number within bounds. */
export function readInteger(text: string, flag: string, min: number, max: number): number {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw new UsageError(`${flag}: "${text}" is not a whole number between ${min} and ${max}.`);
  return number;
}
