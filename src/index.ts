// The public API of nestjs-rhythm, by name: whatever is not listed here is internal. A spec holds the list.

export { type EmbeddedOptions, EmbeddedPostgresError, type EmbeddedServer, startEmbedded } from '../libs/embedded/index.js';
export {
  type EngineEvent,
  type EngineEventType,
  type ExecutionFacts,
  FileSnapshotStore,
  type LoopStatus,
  type SnapshotStore,
  type TaskContext,
  type TaskLogger,
} from '../libs/engine/index.js';
export type { FlowAllowList, PendingDescription } from '../libs/flow/index.js';
export type { HistoryEntry, QueueStatus, UnservedTask, WorkerStatus } from '../libs/store/index.js';
export { type LoadedSettings, loadSettings, type SettingReport, type SettingsOrigin } from './config/load-settings.js';
export type { RhythmSettings, SettingOptions } from './config/schema.js';
export { DatabaseUnreachableError } from './database/unreachable.js';
export type { Duration } from './duration.js';
export {
  CompletionBusyError,
  CompletionTokenError,
  ConfigurationError,
  EraseRefusedError,
  ExecutionCancelledError,
  ExecutionConflictError,
  ExecutionFailedError,
  ExecutionNotFoundError,
  ExecutionStateError,
  InvalidArgumentError,
  NonRetryableError,
  ResultExpiredError,
  ResultTimeoutError,
  RhythmError,
  SignalToTaskError,
  SnapshotNotKeptError,
  StartContendedError,
  type StoredError,
  TooManySignalsError,
  UnknownNameError,
} from './errors.js';
export { RhythmEvents } from './events/rhythm.events.js';
export { type CompletionFailure, CompletionService } from './execution/completion.service.js';
export type { Erased } from './execution/erase.js';
export type { Execution, ExecutionStatus, ExecutionTree } from './execution/execution.js';
export {
  ExecutionService,
  type InspectOptions,
  type ResultOptions,
  type StartedExecution,
  type StartRequest,
  type SystemStatus,
} from './execution/execution.service.js';
export type { InspectedBranch, InspectedFrame, Inspection } from './execution/inspect-run.js';
export type { KeptSnapshot, KeptSnapshotCall } from './execution/kept-snapshots.js';
export type { ListOptions, ListPage } from './execution/list-page.js';
export type { StartOptions, StartRetryOptions } from './execution/start-options.js';
export { DefinitionService, type WorkflowVersion } from './flows/definition.service.js';
export type { FlowSource } from './flows/flow-source.js';
export { getRhythmToken, InjectRhythm } from './inject-rhythm.js';
export type {
  RhythmFeatureOptions,
  RhythmModuleAsyncOptions,
  RhythmModuleExtras,
  RhythmModuleOptions,
  RhythmOptionsFactory,
} from './module-options.js';
export { RhythmModule } from './rhythm.module.js';
export { SchedulerService } from './scheduler/scheduler.service.js';
export { type SentSignal, type SignalOptions, SignalService } from './signal/signal.service.js';
export { Task } from './tasks/task-decorator.js';
export type { TaskOptions, TaskRetryOptions } from './tasks/task-options.js';
export { WorkerHost } from './worker/worker.host.js';
