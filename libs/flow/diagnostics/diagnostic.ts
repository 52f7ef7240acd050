// Diagnostics: what is wrong with a source, for machines (offsets, codes) and for people (line, column, excerpt).

import { type DiagnosticCode, isWarning } from './codes.js';
import type { Fault } from './fault.js';
import { LineMap } from './line-map.js';

/** One thing that is found in a source: where, why, and what to write instead. */
export interface Diagnostic {
  /** Stable, for machines. */
  code: DiagnosticCode;
  /** A source with an error does not compile; one with nothing but warnings does. */
  severity: 'error' | 'warning';
  /** The reason, in one sentence. */
  message: string;
  /** What to write instead. */
  advice: string;
  file: string;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** Offsets of the offending part of the source, in UTF-16 units; `end` is exclusive. */
  start: number;
  end: number;
  /** The part of the source line that shows the place; long lines are cut around it. */
  excerpt: string;
  /** Where `excerpt` has the first offending character, from 0. */
  caret: number;
}

const EXCERPT_WIDTH = 120;

/** Adds file, line, column and excerpt to faults, sorts them by place and drops duplicates. */
export function diagnosticsOf(source: string, file: string, faults: readonly Fault[]): Diagnostic[] {
  if (faults.length === 0) return [];
  const sorted = [...faults].sort((a, b) => a.start - b.start || a.end - b.end);
  const once = sorted.filter(({ start, code }, at) => at === 0 || start !== sorted[at - 1].start || code !== sorted[at - 1].code);
  // Nothing after the last excerpt matters: a source that is refused for its length is not read to its end.
  const last = once.reduce((latest, { end }) => Math.max(latest, end), 0);
  const lines = new LineMap(source.slice(0, last + EXCERPT_WIDTH));
  return once.map((fault) => diagnosticAt(lines, file, fault));
}

function diagnosticAt(lines: LineMap, file: string, { code, message, advice, start, end }: Fault): Diagnostic {
  const { line, column } = lines.placeOf(start);
  const text = lines.textOf(line);
  const from = text.length <= EXCERPT_WIDTH ? 0 : Math.max(0, Math.min(column - 1 - EXCERPT_WIDTH / 2, text.length - EXCERPT_WIDTH));
  return {
    code,
    severity: isWarning(code) ? 'warning' : 'error',
    message,
    advice,
    file,
    line,
    column,
    start,
    end,
    excerpt: text.slice(from, from + EXCERPT_WIDTH),
    caret: column - 1 - from,
  };
}

/** A diagnostic as people read it: place, reason, source line with a caret, advice. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, code, severity, message, advice, excerpt, caret, start, end } = diagnostic;
  const gutter = String(line);
  // Control characters could garble the terminal or hide the error; a tab becomes one space, so that the caret stays aligned.
  const shown = withoutControls(excerpt);
  const width = Math.max(1, Math.min(end - start, shown.length - caret));
  return [
    `${withoutControls(file)}:${line}:${column} ${severity === 'warning' ? 'warning: ' : ''}${message} (${code})`,
    `  ${gutter} | ${shown}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(caret)}${'^'.repeat(width)}`,
    `  ${advice}`,
  ].join('\n');
}

function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === '\t' ? ' ' : '\ufffd'));
}
