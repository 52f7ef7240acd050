// Logs every failed attempt and every failed execution of this process, once.

import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { LoadedSettings } from '../config/load-settings.js';
import { RHYTHM_SETTINGS } from '../module-options.js';
import { type Failure, failureLine } from './failure-line.js';
import { FailureQuota } from './failure-quota.js';
import { RhythmEvents } from './rhythm.events.js';

const WINDOW_MS = 60_000;

/**
 * An attempt that is tried again is a warning, an execution that failed for good is an error. It subscribes to these two events
 * only, so that ends without an error cost nothing; in API-only processes too, where tasks are failed with their tokens.
 */
@Injectable()
export class FailureLog implements OnApplicationShutdown {
  private readonly logger = new Logger('Rhythm');
  private readonly quota: FailureQuota;
  /** Ends the current minute. There is none while nothing fails. */
  private timer: NodeJS.Timeout | undefined;

  constructor(events: RhythmEvents, @Inject(RHYTHM_SETTINGS) loaded: LoadedSettings) {
    const { failures, failuresPerMinute } = loaded.settings.log;
    this.quota = new FailureQuota(failuresPerMinute);
    if (failures !== 'none') events.subscribe(failures === 'all' ? ['retried', 'failed'] : ['failed'], (failure) => this.failed(failure));
  }

  /** Counts what was not logged, after the worker has stopped. */
  onApplicationShutdown(): void {
    this.endMinute();
  }

  private failed(failure: Failure): void {
    const level = failure.type === 'retried' ? 'warn' : 'error';
    this.timer ??= setTimeout(() => this.endMinute(), WINDOW_MS).unref();
    if (this.quota.take(level, failure.kind, failure.name)) this.logger[level](failureLine(failure));
  }

  private endMinute(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { level, kind, name, count } of this.quota.reset())
      this.logger[level](
        `${count} more ${level === 'warn' ? 'failed attempts' : 'failures'} of ${kind} ${JSON.stringify(name)} were not logged (log.failuresPerMinute).`,
      );
  }
}
