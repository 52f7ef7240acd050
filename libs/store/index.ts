// The door of the store: PostgreSQL as the engine and the services use it.

export type { ImmediateClaim } from './commit/children.js';
export { type CommitOutcome, commitWork, type WorkCommit } from './commit/commit-work.js';
export type { KeptState } from './commit/kept-states.js';
export type { StandingClaim } from './commit/steps-of-turns.js';
export type { ParentCall, TaskCommit } from './commit/task-commit.js';
export { type EndedStep, type NewTimer, type TurnCommit, turnCommit } from './commit/turn-commit.js';
export { isConnectionError, rethrowMarked } from './connect/connection-errors.js';
export type { ConnectionOptions } from './connect/connection-options.js';
export { isDatabaseError, isRetryable, retrying } from './connect/database-errors.js';
export { type DatabaseIdentity, isSameDatabase, readIdentity } from './connect/database-identity.js';
export { EngineConnection } from './connect/engine-connection.js';
export type { Intercept } from './connect/intercept.js';
export { joinTransaction } from './connect/join-transaction.js';
export { limitWaits } from './connect/limit-waits.js';
export { Link } from './connect/link.js';
export { isLockTimeout, isServerError, stillConnected } from './connect/lost-connection.js';
export { ANY, type HintKind, Notifications } from './connect/notifications.js';
export { PoolRunner } from './connect/pool-runner.js';
export { isTransactionPooler, type LongTransaction, longTransactions, probeServer, type ServerFacts } from './connect/probe-server.js';
export { CLOSE_TIMEOUT_MS } from './connect/sockets.js';
export { type Runner, type Statement, sql } from './connect/statement.js';
export { type Timers, within } from './connect/within.js';
export { ENDED_STATUSES, type EndedStatus, isEnded } from './ended.js';
export { RetryRefusedError, SchemaTooNewError, SchemaTooOldError } from './errors.js';
export { newFence } from './fence.js';
export { ancestorsOf, bucketOf, bucketOfRelative, childId, depthOf, keyedId, newId, rootOf } from './ids.js';
export { isReadable, type JsonColumns, jsonColumns, readable } from './json-columns.js';
export {
  type AllowListInForce,
  type AllowListState,
  allowListsInForce,
  changeAllowLists,
  type Declaration,
  declarationOf,
  lockAllowLists,
  readAllowLists,
  type StoredAllowList,
  type VersionKey,
} from './manage/allow-lists.js';
export { type BenchmarkRows, type BenchmarkTime, countBenchmark, readBenchmark, removeBenchmark } from './manage/benchmark-rows.js';
export {
  activateDefinition,
  currentVersion,
  type Definition,
  definitionNames,
  getProgram,
  listDefinitions,
  type NewDefinition,
  upsertDefinitions,
  versionsInUse,
} from './manage/definitions.js';
export {
  type DiscardedSnapshot,
  discardedSnapshotsOf,
  discardSnapshots,
  dueDiscardedSnapshots,
  forgetDiscardedSnapshots,
  putOffDiscardedSnapshots,
} from './manage/discarded-snapshots.js';
export { type ErasedExecution, type EraseRefusal, eraseExecution, findEraseRefusal, findTagged } from './manage/erase-execution.js';
export { countEnded, type EndedFilter, type EndedPlace, findEnded } from './manage/find-ended.js';
export { type InsertOptions, insertExecutions, type StartOutcome } from './manage/insert-executions.js';
export { LEFTOVER_TABLES, removeLeftovers } from './manage/leftovers.js';
export {
  assertSchema,
  createDataSource,
  type MigrationReport,
  migrate,
  migrateDown,
  type PlannedMigration,
  pendingMigrations,
  planMigrations,
  SCHEMA_VERSION,
  schemaVersion,
} from './manage/migrate.js';
export { countOrphanSignals, removeOrphanSignals } from './manage/orphan-signals.js';
export { pauseExecutions, resumeExecutions } from './manage/pause-execution.js';
export { removeExecutions } from './manage/remove-execution.js';
export { requestCancel } from './manage/request-cancel.js';
export { restartExecution } from './manage/restart-execution.js';
export { lockRetention, type RetentionAges, type RetentionBounds, type RetentionStep, retain } from './manage/retention.js';
export { retryExecution } from './manage/retry-execution.js';
export { type NewSignal, type SignalOutcome, sendSignals } from './manage/send-signals.js';
export { type StartAgainOutcome, startAgain } from './manage/start-again.js';
export { expireTombstones } from './manage/tombstones.js';
export { mayVacuum, type VacuumTimes, vacuumQueues } from './manage/vacuum-queues.js';
export type { ExecutionOptions, NewExecution, StoredFailureHandler, StoredRetry } from './new-execution.js';
export { type PendingStep, pendingText, readPending } from './pending-steps.js';
export { countDescendants } from './read/count-descendants.js';
export { type ExecutionFilter, type ExecutionPage, listExecutions } from './read/list-executions.js';
export { readQueueDepth } from './read/queue-depth.js';
export {
  type ExecutionRecord,
  type ExecutionStatus,
  getExecution,
  getExecutions,
  readResults,
  readTree,
  type StoredError,
} from './read/read-execution.js';
export { type HistoryEntry, readHistory } from './read/read-history.js';
export { type KeptCall, type KeptTurn, listKeptStates, readKeptState } from './read/read-kept-states.js';
export { type RunState, readRunState } from './read/read-run-state.js';
export { countStatuses, type QueueStatus, readQueues, readUnservedQueues, readWorkers, type WorkerStatus } from './read/read-status.js';
export { countWaiting, countWaitingKinds, type WaitingCount } from './read/read-waiting.js';
export {
  type QueueTable,
  type Replica,
  readClockAhead,
  readQueueTables,
  readServerHealth,
  type ServerHealth,
  type Slot,
} from './read/server-health.js';
export type { WaitingFilter } from './read/waiting-source.js';
export { bringForward } from './run/bring-forward.js';
export { type Claim, type ClaimedItem, claimWork, type QueuePlaces } from './run/claim-work.js';
export { createCompletionToken, findToken, newSecret, type TokenTarget } from './run/completion-token.js';
export { readDoomed } from './run/doomed-runs.js';
export { dropLateEvents } from './run/drop-late-events.js';
export {
  type GivenBack,
  giveBackClaims,
  giveBackItems,
  type PutOff,
  putOffCrashed,
  putOffItems,
  type Recovered,
  recoverWorker,
} from './run/give-back.js';
export {
  claimIds,
  lostItems,
  NO_HEARTBEAT,
  readHeartbeats,
  registerWorker,
  removeWorker,
  type WorkerDescription,
  writeHeartbeat,
} from './run/heartbeat.js';
export {
  claimLanes,
  type Lane,
  moveToLanes,
  noWorkerHas,
  readLanes,
  readUnserved,
  type UnservedTask,
  updateUnservedLanes,
} from './run/lanes.js';
export { type LoadedRun, loadRuns, type StoredEvent } from './run/load-runs.js';
export { markStarted } from './run/mark-started.js';
export { type MovedDue, type Mover, moveDue } from './run/move-due.js';
export { noteExecution } from './run/note-execution.js';
export { dropScheduled, lockFreeOverdue, lockOverdue, type Overdue, readOverdue, type TimeLimit } from './run/overdue.js';
export { readCalls, readKeptRefs, type StoredCall } from './run/read-calls.js';
export {
  type PromotedStep,
  promoteSteps,
  type RunLetGo,
  requeueSteps,
  requeueUnknownSteps,
  type StepOfRun,
  stepsStillThere,
} from './run/take-steps.js';
export { reportProgress } from './run/task-progress.js';
export { Store, type StoreOptions } from './store.js';
export { MOST_WAITING_ROWS, WAITING_KINDS, type WaitingKind, type WaitingRow } from './waiting-rows.js';
