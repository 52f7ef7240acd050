// The door of the engine: what the module, the command line, tests and benchmarks use of it.

export { Engine } from './engine.js';
export {
  type EngineEvent,
  EngineEvents,
  type EngineEventType,
  type ErrorFacts,
  type ExecutionFacts,
  type LoopStatus,
} from './engine-events.js';
export { DEFAULT_ENGINE_OPTIONS, type EngineLogger, type EngineOptions, type EngineParts } from './engine-options.js';
export { InvalidArgumentError, NonRetryableError } from './errors.js';
export { errorFacts } from './execution-facts.js';
export { type PayloadLimits, toJsonText } from './payload.js';
export { REAL_RUNTIME, type Runtime, type Timer } from './runtime.js';
export type { RunnableTask, TaskPolicy, TaskSource } from './tasks/runnable-task.js';
export type { TaskContext, TaskLogger } from './tasks/task-context.js';
export { removeDiscarded } from './turns/discarded-states.js';
export type { ProgramLoader, RunnableProgram, RunningFlow } from './turns/programs.js';
export { FileSnapshotStore, type SnapshotStore } from './turns/snapshot-store.js';
export { type LoadedFlows, StoredPrograms } from './turns/stored-programs.js';
