// Makes a fault from the table of refusals and the words that belong into its text.

import type { Fault } from '../errors.js';
import { REFUSALS, type RefusalCode } from './refusals.js';

/** The refusal `code` at a place, its `{words}` filled in. */
export function faultOf(code: RefusalCode, start: number, end: number, words: Record<string, string> = {}): Fault {
  const { message, advice } = REFUSALS[code];
  return { code, message: fill(message, words), advice: fill(advice, words), start, end };
}

function fill(text: string, words: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, word) => (Object.hasOwn(words, word) ? words[word] : whole));
}
