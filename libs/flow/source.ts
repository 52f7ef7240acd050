// From source to program: parse, check, resolve, compile.

import { readSource } from './check/index.js';
import { compileTree, FunctionTooLarge } from './compile/compile.js';
import { fingerprintOf } from './compile/fingerprint.js';
import type { Program } from './compile/program.js';
import { type Diagnostic, diagnosticsOf } from './diagnostics/diagnostic.js';
import { type Fault, faultOf } from './diagnostics/fault.js';
import { FlowSyntaxError } from './errors.js';
import type { FlowLimits } from './limits.js';
import { resolve } from './scope/resolve.js';
import { globalMembers, globalNames } from './vm/registry.js';

export interface CompileOptions {
  /** Named in diagnostics and stack traces. */
  readonly file?: string;
  readonly limits?: Partial<FlowLimits>;
}

/** Compiles a flow, or throws a FlowSyntaxError with everything that is wrong with it. */
export function compile(source: string, options: CompileOptions = {}): Program {
  const built = build(source, options);
  if ('faults' in built) throw new FlowSyntaxError(diagnosticsOf(source, fileOf(options), built.faults));
  return built;
}

/** Everything that is wrong with a flow, in source order; an empty array means that it compiles. */
export function check(source: string, options: CompileOptions = {}): Diagnostic[] {
  const built = build(source, options);
  return 'faults' in built ? diagnosticsOf(source, fileOf(options), built.faults) : [];
}

function fileOf({ file = 'flow' }: CompileOptions): string {
  return file;
}

function build(source: string, options: CompileOptions): Program | { faults: Fault[] } {
  const { ast, faults } = readSource(source, options.limits);
  if (!ast) return { faults };
  const { resolution, faults: nameFaults } = resolve(ast, { globals: globalNames(), membersOf: globalMembers });
  if (faults.length + nameFaults.length > 0) return { faults: [...faults, ...nameFaults] };
  try {
    const compiled = compileTree(ast, source, fileOf(options), resolution);
    return { ...compiled, fingerprint: fingerprintOf(compiled) };
  } catch (error) {
    if (!(error instanceof FunctionTooLarge)) throw error;
    return { faults: [faultOf('FLOW_TOO_LARGE', error.start, error.start + 1, { reason: error.message })] };
  }
}
