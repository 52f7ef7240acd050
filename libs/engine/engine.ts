// The engine of a process: one worker after another, each under an id of its own.

import { CLOSE_TIMEOUT_MS, within } from '../store/index.js';
import { EngineEvents } from './engine-events.js';
import { DEFAULT_ENGINE_OPTIONS, type EngineLogger, type EngineOptions, type EngineParts } from './engine-options.js';
import { REAL_RUNTIME, type Runtime, sleep } from './runtime.js';
import { Worker } from './worker.js';

const SILENT: EngineLogger = { debug() {}, log() {}, warn() {}, error() {} };
const RETRY_MS = 1_000;

/** Runs work between `start` and `stop`, which gives back what has not ended. It survives the loss of its database. */
export class Engine {
  readonly events: EngineEvents;
  readonly options: EngineOptions;
  private readonly runtime: Runtime;
  private worker: Worker | undefined;
  private stopped = false;
  private replacement: Promise<void> = Promise.resolve();

  constructor(private readonly parts: EngineParts) {
    this.events = parts.events ?? new EngineEvents();
    this.options = { ...DEFAULT_ENGINE_OPTIONS, ...parts.options };
    this.runtime = parts.runtime ?? REAL_RUNTIME;
  }

  /** The id of the present worker. */
  get workerId(): string | undefined {
    return this.worker?.id;
  }

  async start(): Promise<void> {
    this.stopped = false;
    // Not awaited: a worker must write its heartbeat even while no hints arrive. Until they do it polls.
    void this.parts.store.hints.start();
    await this.startWorker();
  }

  /**
   * Stops claiming, waits for running tasks within the grace period, gives the rest back at once. While the database does not
   * reply it takes a few seconds longer, and no more.
   */
  async stop(): Promise<void> {
    this.stopped = true;
    await within(this.replacement, CLOSE_TIMEOUT_MS, this.runtime);
    await this.worker?.stop();
    this.worker = undefined;
  }

  private async startWorker(): Promise<void> {
    const { events, options, runtime, parts } = this;
    const worker = new Worker({ ...parts, options, events, runtime, logger: parts.logger ?? SILENT });
    void worker.declaredDead.then(() => {
      this.worker = undefined;
      this.replacement = this.replaceWorker();
    });
    try {
      await worker.start();
    } catch (error) {
      await worker.discard();
      throw error;
    }
    if (this.stopped) await worker.stop();
    else this.worker = worker;
  }

  // A worker that was declared dead is followed by a new one under a new id, as soon as the database allows it.
  private async replaceWorker(): Promise<void> {
    while (!this.stopped) {
      try {
        return await this.startWorker();
      } catch (error) {
        this.events.emit({ type: 'problem', where: 'start of a worker', error });
        await sleep(this.runtime, RETRY_MS);
      }
    }
  }
}
