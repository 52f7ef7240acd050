// From source to program: parse, check, resolve, compile.

import { readSource } from './check/index.js';
import { compileTree, FunctionTooLarge } from './compile/compile.js';
import { fingerprintOf } from './compile/fingerprint.js';
import type { Program } from './compile/program.js';
import { isWarning } from './diagnostics/codes.js';
import { type Diagnostic, diagnosticsOf } from './diagnostics/diagnostic.js';
import { type Fault, faultOf } from './diagnostics/fault.js';
import { FlowSyntaxError } from './errors.js';
import type { FlowLimits } from './limits.js';
import { resolve } from './scope/resolve.js';
import { globalMembers, globalNames, typeMembers, unsupportedMembers } from './vm/registry.js';

export interface CompileOptions {
  /** Named in diagnostics and stack traces. */
  readonly file?: string;
  readonly limits?: Partial<FlowLimits>;
  /** Is given what is accepted and probably not meant, in source order. */
  readonly onWarning?: (warning: Diagnostic) => void;
}

/** Compiles a flow, or throws a FlowSyntaxError with everything that is wrong with it. */
export function compile(source: string, options: CompileOptions = {}): Program {
  const { program, faults } = build(source, options);
  const diagnostics = diagnosticsOf(source, fileOf(options), faults);
  if (!program) throw new FlowSyntaxError(diagnostics.filter(({ severity }) => severity === 'error'));
  for (const each of diagnostics) options.onWarning?.(each);
  return program;
}

/** Every error and warning of a flow, in source order; it compiles if there is no error among them. */
export function check(source: string, options: CompileOptions = {}): Diagnostic[] {
  return diagnosticsOf(source, fileOf(options), build(source, options).faults);
}

function fileOf({ file = 'flow' }: CompileOptions): string {
  return file;
}

/** Without a program there is an error among the faults. */
function build(source: string, options: CompileOptions): { program?: Program; faults: Fault[] } {
  const { ast, faults } = readSource(source, options.limits);
  if (!ast) return { faults };
  const { resolution, faults: nameFaults } = resolve(ast, {
    globals: globalNames(),
    membersOf: globalMembers,
    unsupportedOf: unsupportedMembers,
    typeMembers,
  });
  faults.push(...nameFaults);
  if (faults.some(({ code }) => !isWarning(code))) return { faults };
  try {
    const compiled = compileTree(ast, source, fileOf(options), resolution);
    return { program: { ...compiled, fingerprint: fingerprintOf(compiled) }, faults };
  } catch (error) {
    if (!(error instanceof FunctionTooLarge)) throw error;
    faults.push(faultOf('FLOW_TOO_LARGE', error.start, error.start + 1, { reason: error.message }));
    return { faults };
  }
}
