// The engine of a process: one worker after another, each under an id of its own.

import { GOODBYE_MS, within } from '../../libs/store/index.js';
import { EngineEvents } from './engine-events.js';
import { DEFAULT_ENGINE_OPTIONS, type EngineLogger, type EngineOptions, type EngineParts } from './engine-options.js';
import { Worker } from './worker.js';

const SILENT: EngineLogger = { debug() {}, log() {}, warn() {}, error() {} };
const RETRY_MS = 1_000;

/** Runs work. `start` begins, `stop` hands everything back; in between it survives the loss of its database. */
export class Engine {
  readonly events: EngineEvents;
  readonly options: EngineOptions;
  private worker: Worker | undefined;
  private stopped = false;
  private rebirth: Promise<void> = Promise.resolve();

  constructor(private readonly parts: EngineParts) {
    this.events = parts.events ?? new EngineEvents();
    this.options = { ...DEFAULT_ENGINE_OPTIONS, ...parts.options };
  }

  /** The id of the present worker. */
  get workerId(): string | undefined {
    return this.worker?.id;
  }

  async start(): Promise<void> {
    this.stopped = false;
    // Not waited for: a worker must beat although hints do not come. Until they do it polls.
    void this.parts.store.hints.start();
    await this.live();
  }

  /**
   * Stops claiming, waits for running tasks within the grace period, hands the rest back at once. While the database does not
   * answer it takes a few seconds longer, and no more.
   */
  async stop(): Promise<void> {
    this.stopped = true;
    await within(this.rebirth, GOODBYE_MS);
    await this.worker?.stop();
    this.worker = undefined;
  }

  private async live(): Promise<void> {
    const worker = new Worker({
      ...this.parts,
      options: this.options,
      events: this.events,
      logger: this.parts.logger ?? SILENT,
      random: this.parts.random ?? Math.random,
      died: () => {
        this.worker = undefined;
        this.rebirth = this.liveAgain();
      },
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

  // A worker that was declared dead comes back under a new id, as soon as the database lets it.
  private async liveAgain(): Promise<void> {
    while (!this.stopped) {
      try {
        return await this.live();
      } catch (error) {
        this.events.emit({ type: 'trouble', where: 'start of a worker', error });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
