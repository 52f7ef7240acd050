// What the parser, the checker and the resolver report: a code from the tables, a place, and the message with its words filled in.

import { DIAGNOSTICS, type DiagnosticCode } from './codes.js';

/** One thing that is found in a source, by offsets; `diagnosticsOf` adds line, column and excerpt. */
export interface Fault {
  code: DiagnosticCode;
  message: string;
  advice: string;
  start: number;
  end: number;
}

/** Collects faults; `words` replace the `{…}` of the message and the advice. */
export type Report = (code: DiagnosticCode, place: { start: number; end: number }, words?: Record<string, string>) => void;

/** The diagnostic `code` at a place, its `{words}` filled in. */
export function faultOf(code: DiagnosticCode, start: number, end: number, words: Record<string, string> = {}): Fault {
  const { message, advice } = DIAGNOSTICS[code];
  return { code, message: fill(message, words), advice: fill(advice, words), start, end };
}

function fill(template: string, words: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (whole, word) => (Object.hasOwn(words, word) ? words[word] : whole));
}
