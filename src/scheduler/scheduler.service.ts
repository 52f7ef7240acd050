// `SchedulerService`: starts things at a later time.

import { Injectable } from '@nestjs/common';
import { parseInstant } from '../duration.js';
import { ExecutionService, type StartedExecution } from '../execution/execution.service.js';
import type { StartOptions } from '../execution/start-options.js';

/**
 * Starts workflows and tasks at a later time. What is scheduled is an execution like any other: `get`, `list` and
 * `cancel` work with its id.
 *
 * @publicApi
 */
@Injectable()
export class SchedulerService {
  constructor(private readonly executions: ExecutionService) {}

  /** Starts it once, at the given time (or now, if that has passed). */
  async schedule(
    at: Date | number | string,
    name: string,
    input?: unknown,
    options?: Omit<StartOptions, 'delay' | 'runAt'>,
  ): Promise<StartedExecution> {
    return this.executions.start(name, input, { ...options, runAt: parseInstant(at, 'at') });
  }

  /** Cancels it, whether it has started or not. */
  async unschedule(id: string): Promise<void> {
    await this.executions.cancel(id, { reason: 'unscheduled' });
  }
}
