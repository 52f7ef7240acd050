// The door of the store: PostgreSQL as the engine and the services use it.

export {
  type AllowListInForce,
  type AllowListState,
  allowListsInForce,
  changeAllowLists,
  lockAllowLists,
  readAllowLists,
  type StoredAllowList,
  type VersionKey,
} from './allow-lists.js';
export { type BenchmarkRows, type BenchmarkTime, countBenchmark, readBenchmark, removeBenchmark } from './benchmark-rows.js';
export { boundIdle } from './bound-idle.js';
export { bringForward } from './bring-forward.js';
export { type Claim, type ClaimedItem, claimWork, type QueuePlaces } from './claim-work.js';
export { type CommitOutcome, commitWork, type WorkCommit } from './commit/commit-work.js';
export type { ImmediateClaim } from './commit/effects-commit.js';
export type { ParentCall, TaskCommit } from './commit/task-commit.js';
export { type NewTimer, type TurnCommit, turnCommit } from './commit/turn-commit.js';
export { createCompletionToken, findToken, type TokenTarget } from './completion-token.js';
export type { ConnectionOptions } from './connections.js';
export { EngineConnection, isDatabaseError, isRetryable, joinTransaction, Link, PoolRunner, retrying } from './connections.js';
export { type DatabaseIdentity, isSameDatabase, readIdentity } from './database-identity.js';
export * from './definitions.js';
export { dropLateEvents } from './drop-late-events.js';
export * from './entities/index.js';
export { RetryRefusedError, SchemaTooNewError, SchemaTooOldError } from './errors.js';
export { countEnded, type EndedFilter, type EndedPlace, findEnded } from './find-ended.js';
export { type GivenBack, giveBackClaims, giveBackItems, type PutOff, putOffItems, type Recovered, recoverWorker } from './give-back.js';
export { beat, claimIds, leave, lostItems, NO_HEARTBEAT, readBeats, registerWorker, type WorkerDescription } from './heartbeat.js';
export { bucketOf, bucketOfRelative, childId, keyedId, newId, rootOf } from './ids.js';
export type { ExecutionOptions, NewExecution, StartOutcome, StoredRetry } from './insert-executions.js';
export { insertExecutions } from './insert-executions.js';
export { type JsonColumns, jsonColumns, readable } from './json-columns.js';
export { claimLanes, type Lane, moveToLanes, noWorkerHas, readLanes, readUnserved, tendLanes, type UnservedTask } from './lanes.js';
export { type ExecutionFilter, type ExecutionPage, listExecutions } from './list-executions.js';
export { type LoadedRun, loadRuns, type StoredEvent } from './load-runs.js';
export { isLockTimeout, stillConnected, wasAnswered } from './lost-connection.js';
export { markStarted } from './mark-started.js';
export type { MigrationReport, PlannedMigration } from './migrate.js';
export {
  assertSchema,
  createDataSource,
  migrate,
  migrateDown,
  pendingMigrations,
  planMigrations,
  SCHEMA_VERSION,
  schemaVersion,
} from './migrate.js';
export { dropScheduled, type MovedDue, moveDue, type Overdue, readOverdue } from './move-due.js';
export { noteExecution } from './note-execution.js';
export { ANY, type HintKind, Notifications } from './notifications.js';
export { countOrphanSignals, removeOrphanSignals } from './orphan-signals.js';
export { pauseExecutions, resumeExecutions } from './pause-execution.js';
export { isTransactionPooler, type LongTransaction, longTransactions, probeServer, type ServerFacts } from './probe-server.js';
export type { ExecutionRecord, ExecutionStatus } from './read-execution.js';
export { getExecution, getExecutions, readResults, readTree } from './read-execution.js';
export { type HistoryEntry, readHistory } from './read-history.js';
export { type RunState, readRunState } from './read-run-state.js';
export { countStatuses, type QueueStatus, readQueues, readWorkers, type WorkerStatus } from './read-status.js';
export { removeExecutions } from './remove-execution.js';
export { requestCancel } from './request-cancel.js';
export { retryExecution } from './retry-execution.js';
export { type NewSignal, type SignalOutcome, sendSignals } from './send-signals.js';
export { GOODBYE_MS } from './sockets.js';
export { type Runner, type Statement, sql } from './statement.js';
export { Store, type StoreOptions } from './store.js';
export { reportProgress } from './task-progress.js';
export { mayVacuum, vacuumQueues } from './vacuum-queues.js';
export { within } from './within.js';
