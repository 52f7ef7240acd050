// What an engine is built from and how it behaves; the module fills it from the settings.

import type { DataSource } from 'typeorm';
import type { RetentionAges, Store } from '../store/index.js';
import type { EngineEvents } from './engine-events.js';
import type { Runtime } from './runtime.js';
import type { TaskSource } from './tasks/runnable-task.js';
import type { ProgramLoader } from './turns/programs.js';
import type { SnapshotStore } from './turns/snapshot-store.js';

/** How a worker behaves; durations are milliseconds. */
export interface EngineOptions {
  queues: readonly string[];
  /** Tasks that run at one time. */
  concurrency: number;
  /** Most executions claimed by one statement. */
  claimBatch: number;
  pollMs: number;
  heartbeatMs: number;
  deadAfterMs: number;
  shutdownGraceMs: number;
  /** Recoveries without progress after which an execution is quarantined. */
  maxCrashes: number;
  /** Readable prefix of the worker id. */
  workerName?: string;
  /** Steps and notes kept per workflow run. */
  maxSteps: number;
  /** The last states kept per workflow run; 0 for none. */
  maxSnapshots: number;
  /** How long a cancelled flow may clean up. */
  cancelGraceMs: number;
  payloadBytes: number;
  payloadDepth: number;
  /** Calls of workflows inside one another. */
  maxDepth: number;
  /** Executions below one root at one time, about. */
  maxDescendants: number;
  snapshotWarnBytes: number;
  snapshotBytes: number;
  /** Runs whose VM is kept in memory between turns, and about how many bytes they may take together. */
  cachedRuns: number;
  cacheBytes: number;
  /** What turns that are longer than a slice, and turns that wait to be written, may hold together: about bytes of memory. */
  workerHeapBytes: number;
  /** Most steps that a run has in place, without rows, at one time; 0 for none. They are written again with each of its turns. */
  stepsInPlace: number;
  /** How often the queue tables are vacuumed under load; 0 for never. */
  vacuumMs: number;
  /** How long what has ended is kept, how often that is looked at, and how often the walk over all executions begins. */
  retention: RetentionAges & { pollMs: number; walkEveryMs: number };
  /** Version of this code, shown with the worker. */
  codeVersion: string;
}

export const DEFAULT_ENGINE_OPTIONS: EngineOptions = {
  queues: ['default'],
  concurrency: 50,
  claimBatch: 200,
  pollMs: 1_000,
  heartbeatMs: 5_000,
  deadAfterMs: 30_000,
  shutdownGraceMs: 20_000,
  maxCrashes: 5,
  maxSteps: 1_000,
  maxSnapshots: 0,
  cancelGraceMs: 60_000,
  payloadBytes: 1_048_576,
  payloadDepth: 200,
  maxDepth: 100,
  maxDescendants: 100_000,
  snapshotWarnBytes: 65_536,
  snapshotBytes: 8_388_608,
  cachedRuns: 2_000,
  cacheBytes: 67_108_864,
  workerHeapBytes: 16_777_216,
  stepsInPlace: 16,
  vacuumMs: 200,
  retention: {
    completedMs: null,
    failedMs: null,
    cancelledMs: null,
    historyMs: null,
    keysMs: null,
    pollMs: 60_000,
    walkEveryMs: 3_600_000,
  },
  codeVersion: '0.1.0',
};

/** Where tasks and engine write for people. */
export interface EngineLogger {
  debug(message: string): void;
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
}

/** The parts an engine is built from. */
export interface EngineParts {
  readonly store: Store;
  readonly tasks: TaskSource;
  readonly programs: ProgramLoader;
  readonly options?: Partial<EngineOptions>;
  readonly events?: EngineEvents;
  /** The app's own DataSource on the same database, for transactional tasks. */
  readonly appDataSource?: DataSource;
  /** Where snapshots over the threshold are stored, if not in their row. */
  readonly snapshots?: SnapshotStore;
  readonly logger?: EngineLogger;
  /** Clock, timers, ids and randomness; those of the process by default. */
  readonly runtime?: Runtime;
}

/** The same with every default filled in, and the id of the worker they belong to. */
export interface WorkerParts extends EngineParts {
  readonly workerId: string;
  readonly options: EngineOptions;
  readonly events: EngineEvents;
  readonly logger: EngineLogger;
  readonly runtime: Runtime;
}
