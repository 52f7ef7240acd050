// Looks once a minute for work that waits in a queue without a worker, and logs a warning once per queue.

import { Inject, Injectable, Logger } from '@nestjs/common';
import type { SchedulerRegistry } from '@nestjs/schedule';
import { readUnservedQueues } from '../../libs/store/index.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { silentAfter } from '../config/silent-after.js';
import { DatabaseHost } from '../database/database.host.js';
import { RHYTHM_SCHEDULER_REGISTRY, RHYTHM_SETTINGS } from '../module-options.js';
import { listNames } from '../nearest.js';

const EVERY_MS = 60_000;
const NAME = 'rhythm:queues';

/** Warns about queues without a worker. */
@Injectable()
export class QueueWatch {
  private readonly logger = new Logger('Rhythm');
  private readonly reported = new Set<string>();

  constructor(
    private readonly database: DatabaseHost,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
    @Inject(RHYTHM_SCHEDULER_REGISTRY) private readonly registry: SchedulerRegistry,
  ) {}

  start(): void {
    this.registry.addInterval(NAME, setInterval(() => void this.check(), EVERY_MS).unref());
  }

  stop(): void {
    if (this.registry.doesExist('interval', NAME)) this.registry.deleteInterval(NAME);
  }

  /** One check. The engine reports a database that does not reply. */
  async check(): Promise<void> {
    const queues = await readUnservedQueues(this.database.store.reader, silentAfter(this.loaded.settings.worker)).catch(() => []);
    const unserved = queues.filter((queue) => !this.reported.has(queue));
    if (unserved.length === 0) return;
    for (const queue of unserved) this.reported.add(queue);
    this.logger.warn(
      `Executions wait in queues that no worker serves: ${listNames(unserved)}. Add them to worker.queues of a process that runs work.`,
    );
  }
}
