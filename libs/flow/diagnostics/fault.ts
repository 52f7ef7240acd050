// What the parser, the checker and the resolver report: a code from the tables, a place, and the message with its words filled in.

import { REFUSALS, type RefusalCode } from './codes.js';

/** One thing that is wrong with a source, by offsets; `diagnosticsOf` adds line, column and excerpt. */
export interface Fault {
  code: RefusalCode;
  message: string;
  advice: string;
  start: number;
  end: number;
}

/** Collects faults; `words` replace the `{…}` of the message and the advice. */
export type Report = (code: RefusalCode, place: { start: number; end: number }, words?: Record<string, string>) => void;

/** The refusal `code` at a place, its `{words}` filled in. */
export function faultOf(code: RefusalCode, start: number, end: number, words: Record<string, string> = {}): Fault {
  const { message, advice } = REFUSALS[code];
  return { code, message: fill(message, words), advice: fill(advice, words), start, end };
}

function fill(template: string, words: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (whole, word) => (Object.hasOwn(words, word) ? words[word] : whole));
}
