// The engine as the module uses it.

export { Engine } from './engine.js';
export { type EngineEvent, EngineEvents } from './engine-events.js';
export { DEFAULT_ENGINE_OPTIONS, type EngineLogger, type EngineOptions, type EngineParts, type TaskSource } from './engine-options.js';
export type { ProgramLoader, RunnableProgram, RunningFlow } from './programs.js';
export { FileSnapshotStore, type SnapshotStore } from './snapshot-store.js';
export { type LoadedFlows, StoredPrograms } from './stored-programs.js';
