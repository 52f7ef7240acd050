// The entry of the language for the other rooms: source in, programs, runs and snapshots out. Pure and synchronous.

export { intersectAllowLists } from './allow-list.js';
export { type NamedCall, namedCalls } from './check/named-calls.js';
export { type Program, takesSignals } from './compile/program.js';
export { loadProgram, saveProgram } from './compile/stored-program.js';
export { type Diagnostic, renderDiagnostic } from './diagnostics/diagnostic.js';
export { type Duration, DurationError, parseDuration } from './duration.js';
export { FlowError, FlowSnapshotError, FlowSyntaxError } from './errors.js';
export { DEFAULT_LIMITS, type FlowLimits } from './limits.js';
export { nearestName } from './nearest-name.js';
export { type FlowRun, restoreRun, startRun } from './run.js';
export {
  type BranchDescription,
  describe,
  type FrameDescription,
  type PendingDescription,
  type RunDescription,
} from './snapshot/describe.js';
export type { DisplayJson } from './snapshot/display.js';
export { pendingCalls, type SnapshotHeader, snapshotHeader } from './snapshot/header.js';
export { type CompileOptions, check, compile } from './source.js';
export type {
  ConsumedSignal,
  Effect,
  ErrorData,
  FlowAllowList,
  FlowContext,
  FlowEvent,
  FlowHost,
  JsonText,
  ResumeGroup,
  RetryOptions,
  TaskCallOptions,
  TurnBase,
  TurnResult,
  WaitingPlace,
  WithdrawalReason,
  WorkflowCallOptions,
} from './turn.js';
export type { RunOptions } from './vm/new-vm.js';
