// What a process needs that runs programs and compiles none: it loads neither the parser nor the compiler.

export { loadProgram } from './compile/stored-program.js';
export { FlowSnapshotError } from './errors.js';
export { DEFAULT_LIMITS, type FlowLimits } from './limits.js';
export { type FlowRun, restoreRun, startRun } from './run.js';
export type { FlowAllowList, FlowContext, FlowEvent, FlowHost, TurnResult, WaitingPlace } from './turn.js';
