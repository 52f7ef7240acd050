// What an engine is made of and how it behaves; the module fills it from the settings.

import type { DataSource } from 'typeorm';
import type { Store } from '../../libs/store/index.js';
import type { RegisteredTask } from '../tasks/task.registry.js';
import type { EngineEvents } from './engine-events.js';
import type { ProgramLoader } from './programs.js';
import type { SnapshotStore } from './snapshot-store.js';

/** The tasks that this process can run. */
export interface TaskSource {
  get(name: string): RegisteredTask | undefined;
  names(): string[];
}

/** How a worker behaves; durations are milliseconds. */
export interface EngineOptions {
  queues: readonly string[];
  /** Tasks that run at one time. */
  concurrency: number;
  /** Most executions taken at once. */
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
  /** How long a cancelled flow may clean up. */
  cancelGraceMs: number;
  payloadBytes: number;
  payloadDepth: number;
  snapshotWarnBytes: number;
  snapshotBytes: number;
  /** Runs whose VM is kept in memory between turns, and about how many bytes they may take together. */
  cachedRuns: number;
  cacheBytes: number;
  /** How often the queue tables are vacuumed under load; 0 for never. */
  vacuumMs: number;
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
  cancelGraceMs: 60_000,
  payloadBytes: 1_048_576,
  payloadDepth: 200,
  snapshotWarnBytes: 65_536,
  snapshotBytes: 8_388_608,
  cachedRuns: 2_000,
  cacheBytes: 67_108_864,
  vacuumMs: 200,
  codeVersion: '0.1.0',
};

/** Where tasks and engine write for people. */
export interface EngineLogger {
  debug(message: string): void;
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
}

/** The parts an engine is put together from. */
export interface EngineParts {
  store: Store;
  tasks: TaskSource;
  programs: ProgramLoader;
  options?: Partial<EngineOptions>;
  events?: EngineEvents;
  /** The app's own DataSource on the same database, for transactional tasks. */
  appDataSource?: DataSource;
  /** Where snapshots over the threshold live, if not in their row. */
  snapshots?: SnapshotStore;
  logger?: EngineLogger;
  /** A number in [0, 1); handed in so that a simulation can choose it. */
  random?: () => number;
}
