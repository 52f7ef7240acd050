// Every error of the language's own door, and the diagnostics that a refused source is explained with.

import { LineMap } from './parse/line-map.js';

/** One thing that is wrong with a source text: where, why, and what to write instead. */
export interface Diagnostic {
  /** Stable, for machines: `FLOW_…`. */
  code: string;
  /** The reason, in one sentence. */
  message: string;
  /** What to write instead. */
  advice: string;
  file: string;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** Offsets of the offending text. */
  start: number;
  end: number;
  /** The part of the source line that shows the place; long lines are cut around it. */
  excerpt: string;
  /** Where `excerpt` has the first offending character, from 0. */
  caret: number;
}

/** What the finder of a fault knows about it; `diagnosticAt` adds the place. */
export interface Fault {
  code: string;
  message: string;
  advice: string;
  start: number;
  end: number;
}

const EXCERPT_WIDTH = 120;

/** Completes a fault with its file, line, column and excerpt. */
export function diagnosticAt(lines: LineMap, file: string, fault: Fault): Diagnostic {
  const { line, column } = lines.placeOf(fault.start);
  const text = lines.textOf(line);
  const from = text.length <= EXCERPT_WIDTH ? 0 : Math.max(0, Math.min(column - 1 - EXCERPT_WIDTH / 2, text.length - EXCERPT_WIDTH));
  const { code, message, advice, start, end } = fault;
  return {
    code,
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
  const { file, line, column, code, message, advice, excerpt, caret, start, end } = diagnostic;
  const gutter = String(line);
  // Control characters would bend the terminal or hide the fault itself; a tab keeps the caret aligned as one space.
  const shown = excerpt.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === '\t' ? ' ' : '\ufffd'));
  const width = Math.max(1, Math.min(end - start, shown.length - caret));
  return [
    `${file}:${line}:${column} ${message} (${code})`,
    `  ${gutter} | ${shown}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(caret)}${'^'.repeat(width)}`,
    `  ${advice}`,
  ].join('\n');
}

/** The base of every error that the language's door throws. */
export class FlowError extends Error {
  constructor(
    /** Stable, for machines: `FLOW_…`. */
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'FlowError';
  }
}

/** The source was refused; `diagnostics` says everything that is wrong with it, in the order of the text. */
export class FlowSyntaxError extends FlowError {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    const more = diagnostics.length > 1 ? `${diagnostics.length} errors\n` : '';
    super('FLOW_SYNTAX', more + diagnostics.map(renderDiagnostic).join('\n'));
    this.name = 'FlowSyntaxError';
  }
}

/**
 * A stored snapshot (or program) cannot be used: `FLOW_SNAPSHOT` when it is damaged, `FLOW_OTHER_PROGRAM` when the snapshot
 * belongs to another program, `FLOW_NEWER_FORMAT` when a newer release of this package wrote it and can read it.
 */
export class FlowSnapshotError extends FlowError {
  declare readonly code: 'FLOW_SNAPSHOT' | 'FLOW_OTHER_PROGRAM' | 'FLOW_NEWER_FORMAT';

  constructor(message: string, { code = 'FLOW_SNAPSHOT', cause }: { code?: FlowSnapshotError['code']; cause?: unknown } = {}) {
    super(code, message, { cause });
    this.name = 'FlowSnapshotError';
  }
}
