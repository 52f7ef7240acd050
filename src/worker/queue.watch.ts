// Looks now and then for work that waits in a queue nobody serves, and says so once per queue.

import { Inject, Injectable, Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { readQueues } from '../../libs/store/index.js';
import { DatabaseHost } from '../database/database.host.js';
import { listNames } from '../nearest.js';

const EVERY_MS = 60_000;
const NAME = 'rhythm:unserved-queues';

/** Warns of queues without a worker. */
@Injectable()
export class QueueWatch {
  private readonly logger = new Logger('Rhythm');
  private readonly told = new Set<string>();

  constructor(
    @Inject(DatabaseHost) private readonly database: DatabaseHost,
    @Inject(SchedulerRegistry) private readonly timers: SchedulerRegistry,
  ) {}

  start(): void {
    this.timers.addInterval(NAME, setInterval(() => void this.look(), EVERY_MS).unref());
  }

  stop(): void {
    if (this.timers.doesExist('interval', NAME)) this.timers.deleteInterval(NAME);
  }

  /** One look; a database that is away is the engine's to report. */
  async look(): Promise<void> {
    const queues = await readQueues(this.database.store.reader).catch(() => []);
    const unserved = queues.filter(({ waiting, workers, queue }) => waiting > 0 && workers === 0 && !this.told.has(queue));
    if (unserved.length === 0) return;
    for (const { queue } of unserved) this.told.add(queue);
    this.logger.warn(
      `Work waits in queues that no worker serves: ${listNames(unserved.map(({ queue }) => queue))}. Add them to worker.queues of a process.`,
    );
  }
}
