// Runs the engine: starts it when every module is ready, stops it before any module is torn down.

import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { SchedulerRegistry } from '@nestjs/schedule';
import { Engine, type EngineEvent, type EngineOptions, REAL_RUNTIME, StoredPrograms } from '../../libs/engine/index.js';
import type { FlowLimits } from '../../libs/flow/index.js';
import { type IsolationOptions, IsolationPool } from '../../libs/isolation/index.js';
import { AppDataSourceFinder } from '../boot/app-data-source.finder.js';
import type { LoadedSettings } from '../config/load-settings.js';
import type { RhythmSettings } from '../config/schema.js';
import { DatabaseHost } from '../database/database.host.js';
import { RhythmEvents } from '../events/rhythm.events.js';
import { FlowRegistry } from '../flows/flow.registry.js';
import { RHYTHM_OPTIONS, RHYTHM_SCHEDULER_REGISTRY, RHYTHM_SETTINGS, type RhythmModuleOptions } from '../module-options.js';
import { TaskRegistry } from '../tasks/task.registry.js';
import { LoopRegistry } from './loop.registry.js';
import { QueueWatch } from './queue.watch.js';

// Only these: with a listener for all types, every event of the hot path would be created.
const LOGGED = ['worker-started', 'worker-declared-dead', 'recovered', 'snapshot-large', 'problem'] as const;
type LoggedEvent = Extract<EngineEvent, { type: (typeof LOGGED)[number] }>;

/** Runs the engine of this process. A process with the role "api" has none. */
@Injectable()
export class WorkerHost implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Rhythm');
  private engine: Engine | undefined;
  private isolation: IsolationPool | undefined;

  constructor(
    @Inject(RHYTHM_OPTIONS) private readonly options: RhythmModuleOptions,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
    private readonly database: DatabaseHost,
    private readonly events: RhythmEvents,
    private readonly tasks: TaskRegistry,
    private readonly flows: FlowRegistry,
    private readonly appDataSource: AppDataSourceFinder,
    private readonly loops: LoopRegistry,
    private readonly watch: QueueWatch,
    /** The periodic work of this process, as intervals: `rhythm:claim`, `rhythm:timers`, `rhythm:heartbeat`, … Private to this module. */
    @Inject(RHYTHM_SCHEDULER_REGISTRY) readonly schedulerRegistry: SchedulerRegistry,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { settings } = this.loaded;
    if (settings.role === 'api') return;
    this.events.subscribe(LOGGED, (event) => this.log(event));
    this.isolation = await this.openIsolation();
    this.loops.start();
    this.engine = new Engine({
      store: this.database.store,
      tasks: this.tasks,
      programs: new StoredPrograms(this.database.store, this.flows, flowLimits(settings), REAL_RUNTIME, this.isolation),
      options: engineOptions(settings),
      events: this.events,
      appDataSource: this.appDataSource.find(),
      snapshots: this.options.snapshotStore,
      logger: this.logger,
    });
    await this.engine.start();
    this.watch.start();
  }

  private async openIsolation(): Promise<IsolationPool> {
    const pool = new IsolationPool(isolationOptions(this.loaded.settings));
    try {
      if (this.flows.all().some(({ isolate }) => isolate)) pool.check();
      return pool;
    } catch (error) {
      // A boot that fails leaves no open connection.
      await this.database.close();
      throw error;
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.watch.stop();
    await this.engine?.stop();
    await this.isolation?.close();
  }

  private log(event: LoggedEvent): void {
    switch (event.type) {
      case 'worker-started':
        return this.logger.log(
          `Worker ${event.workerId} serves ${this.loaded.settings.worker.queues.map((queue) => `queue "${queue}"`).join(', ')}.`,
        );
      case 'worker-declared-dead':
        return this.logger.warn(
          `Worker ${event.workerId} was declared dead by another worker. Its tasks are aborted, and it starts again under a new id. If tasks block the event loop, raise worker.deadAfter.`,
        );
      case 'recovered':
        return this.logger.warn(
          `Worker ${event.workerId} is dead: it wrote no heartbeat for worker.deadAfter. Executions given to other workers: ${event.executions.length}.`,
        );
      case 'snapshot-large':
        return this.logger.warn(
          `The stored state of execution ${event.executionId} (${event.name}) is ${event.bytes} bytes. Store large data elsewhere and pass references.`,
        );
      case 'problem':
        return this.logger.error(`${event.where}: ${event.error instanceof Error ? event.error.message : String(event.error)}`);
    }
  }
}

const LOOK_EVERY_MS = 60_000;
const LONGEST_WALK_INTERVAL_MS = 3_600_000;

function engineOptions({ worker, history, retention, cancel, limits }: RhythmSettings): Partial<EngineOptions> {
  const { completed, failed, cancelled, history: entries, keys } = retention;
  // Often enough that the shortest age is kept to within a tenth, and never more than once a minute.
  const shortest = Math.min(...[completed, failed, cancelled, entries].filter((age) => age !== false), LONGEST_WALK_INTERVAL_MS * 10);
  return {
    retention: {
      completedMs: completed || null,
      failedMs: failed || null,
      cancelledMs: cancelled || null,
      historyMs: entries || null,
      keysMs: keys || null,
      pollMs: LOOK_EVERY_MS,
      walkEveryMs: Math.max(LOOK_EVERY_MS, shortest / 10),
    },
    queues: worker.queues,
    concurrency: worker.concurrency,
    claimBatch: worker.claimBatch,
    pollMs: worker.pollInterval,
    heartbeatMs: worker.heartbeatInterval,
    deadAfterMs: worker.deadAfter,
    shutdownGraceMs: worker.shutdownGrace,
    maxCrashes: worker.maxCrashes,
    cacheBytes: worker.cacheBytes,
    workerHeapBytes: limits.workerHeapBytes,
    workerName: worker.id,
    maxSteps: history.maxSteps,
    maxSnapshots: history.snapshots,
    cancelGraceMs: cancel.grace,
    payloadBytes: limits.payloadBytes,
    payloadDepth: limits.payloadDepth,
    maxDepth: limits.depth,
    maxDescendants: limits.descendants,
    snapshotWarnBytes: limits.snapshotWarnBytes,
    snapshotBytes: limits.snapshotBytes,
  };
}

function isolationOptions({ isolation }: RhythmSettings): IsolationOptions {
  const { processes, memoryBytes, turnTimeout, idleTimeout, turnsPerProcess } = isolation;
  return { processes, memoryBytes, turnTimeoutMs: turnTimeout, idleMs: idleTimeout, turnsPerProcess };
}

function flowLimits({ limits }: RhythmSettings): Partial<FlowLimits> {
  const { heapBytes, fuelPerTurn, callDepth, pendingEffects, snapshotBytes, snapshotWarnBytes, payloadBytes } = limits;
  return { heapBytes, fuelPerTurn, callDepth, pendingEffects, snapshotBytes, snapshotWarnBytes, payloadBytes };
}
