// The public API of nestjs-rhythm, by name: whatever is not listed here is internal. A spec holds the list.

export { type EmbeddedOptions, EmbeddedPostgresError, type EmbeddedServer, startEmbedded } from '../libs/embedded/index.js';
export {
  type EngineEvent,
  type EngineEventType,
  type ErrorFacts,
  type ExecutionFacts,
  FileSnapshotStore,
  type LoopStatus,
  type SnapshotStore,
  type TaskContext,
  type TaskLogger,
} from '../libs/engine/index.js';
export type { FlowAllowList, PendingDescription } from '../libs/flow/index.js';
export type { HistoryEntry, QueueStatus, UnservedTask, WaitingCount, WaitingKind, WorkerStatus } from '../libs/store/index.js';
export type { FailureHandler } from './check-argument.js';
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
  QueueFullError,
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
  type RestartOptions,
  type ResultOptions,
  type StartedExecution,
  type StartRequest,
  type SystemStatus,
  type WaitingOptions,
} from './execution/execution.service.js';
export type { InspectedBranch, InspectedFrame, Inspection } from './execution/inspect-run.js';
export type { KeptSnapshot, KeptSnapshotCall } from './execution/kept-snapshots.js';
export type { ListOptions, ListPage, WaitsFor } from './execution/list-page.js';
export type { QueueOptions } from './execution/queue-depths.js';
export type { ConflictPolicy, StartOptions, StartRetryOptions } from './execution/start-options.js';
export { DefinitionService, type WorkflowVersion } from './flows/definition.service.js';
export type { FlowSource, FlowSourceOptions } from './flows/flow-source.js';
export { type RhythmErrorBody, RhythmExceptionFilter } from './http/rhythm-exception.filter.js';
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
export { type RhythmContextType, RhythmExecutionContext } from './tasks/rhythm-execution-context.js';
export type { SchemaIssue, SchemaResult, StandardSchema } from './tasks/standard-schema.js';
export { Task } from './tasks/task-decorator.js';
export type { GlobalEnhancers } from './tasks/task-enhancers.js';
export type { TaskOptions, TaskRetryOptions } from './tasks/task-options.js';
export { TaskCtx, TaskInput } from './tasks/task-parameters.js';
export { WorkerHost } from './worker/worker.host.js';
