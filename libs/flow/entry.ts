// The package's entry point `nestjs-rhythm/flow`: the language for tools such as editors, linters and build steps.
// It loads neither Nest nor a database driver.

export { type NamedCall, namedCalls } from './check/named-calls.js';
export { type FunctionCode, type LiveSlots, type LocalName, PROGRAM_VERSION, type Program } from './compile/program.js';
export { loadProgram, saveProgram } from './compile/stored-program.js';
export { type DiagnosticCode, FLOW_CODES, type FlowCode, type RefusalCode, type WarningCode } from './diagnostics/codes.js';
export { type Diagnostic, renderDiagnostic } from './diagnostics/diagnostic.js';
export type { ErrorCode } from './diagnostics/error-codes.js';
export type { Refusal } from './diagnostics/refusal.js';
export { FlowError, FlowSnapshotError, FlowSyntaxError } from './errors.js';
export { DEFAULT_LIMITS, type FlowLimits } from './limits.js';
export {
  type BranchDescription,
  describe as describeSnapshot,
  type FrameDescription,
  type PendingDescription,
  type RunDescription,
} from './snapshot/describe.js';
export type { DisplayJson } from './snapshot/display.js';
export { SNAPSHOT_VERSION } from './snapshot/format.js';
export { type SnapshotHeader, snapshotHeader } from './snapshot/header.js';
export { type CompileOptions, check, compile } from './source.js';
