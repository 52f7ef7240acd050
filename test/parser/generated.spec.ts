// Properties of the parser for generated sources: acorn's tree for what both accept, advice for what only acorn accepts, no crash for anything.

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse as acornParse } from 'acorn';
import fc from 'fast-check';
import { readSource } from '../../libs/flow/check/index.js';
import { type Diagnostic, diagnosticsOf } from '../../libs/flow/diagnostics/diagnostic.js';
import { FlowSyntaxError } from '../../libs/flow/errors.js';
import type { Program } from '../../libs/flow/parse/ast.js';
import { damaged, program } from './sources.js';

/** What Flow leaves out of JavaScript on purpose. Every other refusal must be shared by acorn. */
const LEFT_OUT = new Set([
  ...['FLOW_VAR', 'FLOW_CLASS', 'FLOW_THIS', 'FLOW_NEW', 'FLOW_NEW_TARGET', 'FLOW_GENERATOR', 'FLOW_ACCESSOR', 'FLOW_REGEX', 'FLOW_BIGINT'],
  ...['FLOW_TAGGED_TEMPLATE', 'FLOW_IMPORT', 'FLOW_EXPORT', 'FLOW_EVAL', 'FLOW_ARGUMENTS', 'FLOW_DEBUGGER', 'FLOW_FOR_AWAIT', 'FLOW_PROTO'],
  ...['FLOW_LOCALE', 'FLOW_MISSING_AWAIT', 'FLOW_HTML_COMMENT', 'FLOW_HASHBANG', 'FLOW_ENTRY_PLACE', 'FLOW_ENTRY_MIXED'],
]);
/** Names are checked by the resolver, not by the parser. */
const ABOUT_NAMES = /already been declared|Argument name clash/;
/** Acorn reads a slash after the name `of` as a regular expression; V8 and Flow divide. */
const SLASH_AFTER_OF = /\bof\s*\//;
const RUNS = Number(process.env.PARSER_RUNS ?? 1500);

function flow(source: string): { ast: Program | null; diagnostics: Diagnostic[] } {
  const { ast, faults } = readSource(source);
  return { ast, diagnostics: diagnosticsOf(source, 'x.flow', faults) };
}

function acorn(source: string): { tree?: unknown; error?: string } {
  try {
    const tree = acornParse(source, { ecmaVersion: 2024, sourceType: 'module', allowReturnOutsideFunction: true });
    return { tree: JSON.parse(JSON.stringify(tree, (_, value) => (typeof value === 'bigint' ? null : value))) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** Compares what both sides make of a source. */
function compare(source: string): 'same' | 'refused' | 'skipped' {
  const ours = flow(source);
  if (SLASH_AFTER_OF.test(source)) return 'skipped';
  const theirs = acorn(source);
  if (ours.diagnostics.length > 0) {
    // A refused construct may hide what else is wrong around it, but there must be one.
    if (theirs.tree) expect(ours.diagnostics.map(({ code }) => code).filter((code) => LEFT_OUT.has(code))).not.toEqual([]);
    return 'refused';
  }
  if (theirs.error && ABOUT_NAMES.test(theirs.error)) return 'skipped';
  if (ours.ast?.body.some(({ type }) => type === 'WorkflowEntry')) return 'skipped';
  // Not toEqual: printing the difference of two large trees takes minutes, and shrinking does it many times.
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(ours.ast)), theirs.tree))
    throw new Error(`not the tree of acorn (${theirs.error ?? 'accepted'})`);
  return 'same';
}

describe('the parser', () => {
  it('produces the tree of acorn for generated programs', () => {
    let same = 0;
    fc.assert(
      fc.property(program, (source) => {
        if (compare(source) === 'same') same += 1;
      }),
      { numRuns: RUNS / 3 },
    );
    // Most of the generated programs must be valid, or the test shows nothing.
    expect(same).toBeGreaterThan(RUNS / 5);
  });

  it('accepts a damaged program only if acorn does, and refuses the others with a reason', () => {
    const counts = { same: 0, refused: 0, skipped: 0 };
    fc.assert(
      fc.property(damaged, (source) => {
        counts[compare(source)] += 1;
      }),
      { numRuns: RUNS },
    );
    expect(counts.same).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  });

  it('returns a tree or diagnostics with a place for any text', () => {
    const characters = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'(){}[]`$"\'\\/*=><?.;,:ab1 \n') }),
    );
    fc.assert(
      fc.property(fc.oneof(characters, damaged), (source) => {
        const { ast, diagnostics } = flow(source);
        expect(ast !== null || diagnostics.length > 0).toBe(true);
        for (const { line, column, start, end, message, advice } of diagnostics) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(start).toBeLessThanOrEqual(end);
          expect(end).toBeLessThanOrEqual(source.length);
          expect(message).not.toBe('');
          expect(advice).not.toBe('');
        }
        if (diagnostics.length > 0) expect(new FlowSyntaxError(diagnostics).message).toContain('^');
      }),
      { numRuns: RUNS },
    );
  });
});
