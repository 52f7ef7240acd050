// From source text to program: parse, check, resolve, compile.

import { checkSyntax } from '../check/index.js';
import { type Diagnostic, diagnosticAt, FlowSyntaxError } from '../errors.js';
import type { FlowLimits } from '../limits.js';
import { parse } from '../parse/index.js';
import { LineMap } from '../parse/line-map.js';
import { resolve } from '../scope/resolve.js';
import { globalMembers, globalNames } from '../vm/registry.js';
import { compileTree, FunctionTooLarge } from './compile.js';
import { fingerprintOf } from './fingerprint.js';
import type { Program } from './program.js';

export interface CompileOptions {
  /** Named in diagnostics and stack traces. */
  readonly file?: string;
  readonly limits?: Partial<FlowLimits>;
}

/** Compiles a flow, or throws a FlowSyntaxError with everything that is wrong with it. */
export function compile(source: string, options: CompileOptions = {}): Program {
  const { program, diagnostics } = build(source, options);
  if (!program) throw new FlowSyntaxError(diagnostics);
  return program;
}

/** Everything that is wrong with a flow, in the order of the text; nothing means that it compiles. */
export function check(source: string, options: CompileOptions = {}): Diagnostic[] {
  return build(source, options).diagnostics;
}

function build(source: string, { file = 'flow', limits }: CompileOptions): { program?: Program; diagnostics: Diagnostic[] } {
  const { ast, diagnostics } = parse(source, { file, limits });
  if (!ast) return { diagnostics };
  const { resolution, diagnostics: scopeFaults } = resolve(ast, { source, file, globals: globalNames(), membersOf: globalMembers });
  const all = [...diagnostics, ...checkSyntax(ast, source, file), ...scopeFaults].sort((a, b) => a.start - b.start);
  if (all.length > 0) return { diagnostics: all };
  try {
    const compiled = compileTree(ast, source, file, resolution);
    return { program: { ...compiled, fingerprint: fingerprintOf(compiled) }, diagnostics: [] };
  } catch (error) {
    if (!(error instanceof FunctionTooLarge)) throw error;
    const { start, message } = error;
    const fault = {
      code: 'FLOW_TOO_LARGE',
      message: `This function is too large: ${message}.`,
      advice: 'Split it into several functions.',
      start,
      end: start + 1,
    };
    return { diagnostics: [diagnosticAt(new LineMap(source), file, fault)] };
  }
}
