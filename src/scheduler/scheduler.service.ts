// `SchedulerService`: starts things at a later time.

import { Injectable } from '@nestjs/common';
import { parseInstant } from '../duration.js';
import { ExecutionService, type StartedExecution } from '../execution/execution.service.js';
import type { StartOptions } from '../execution/start-options.js';

/**
 * Starts workflows and tasks at a later time. What is scheduled is an execution like any other: `get`, `list` and
 * `cancel` know it by its id.
 *
 * @publicApi
 */
@Injectable()
export class SchedulerService {
  constructor(private readonly executions: ExecutionService) {}

  /** Starts once, at the given time (a past one means now). */
  async schedule(
    at: Date | number | string,
    name: string,
    input?: unknown,
    options?: Omit<StartOptions, 'delay' | 'runAt'>,
  ): Promise<StartedExecution> {
    return this.executions.start(name, input, { ...options, runAt: parseInstant(at, 'at') });
  }

  /** Takes back what has not started yet (and cancels what has). */
  async unschedule(id: string): Promise<void> {
    await this.executions.cancel(id, { reason: 'unscheduled' });
  }
}
