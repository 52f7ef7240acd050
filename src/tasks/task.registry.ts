// The tasks that this process can run, by name.

import { Injectable } from '@nestjs/common';
import type { RunnableTask, TaskSource } from '../../libs/engine/index.js';
import type { FailureHandler } from '../check-argument.js';
import { ConfigurationError, UnknownNameError } from '../errors.js';
import { didYouMean, listNames } from '../nearest.js';

/** A task that was found on a provider. */
export interface RegisteredTask extends RunnableTask {
  /** `OrdersService.charge`, for messages. */
  readonly place: string;
  readonly onFailure?: FailureHandler;
}

/** The tasks of this process. */
@Injectable()
export class TaskRegistry implements TaskSource {
  private readonly tasks = new Map<string, RegisteredTask>();

  /** Adds a task; two tasks cannot have the same name. */
  add(task: RegisteredTask): void {
    const other = this.tasks.get(task.name);
    if (other) {
      throw new ConfigurationError(
        `Two tasks are named "${task.name}": ${other.place} and ${task.place}. ` +
          `Give one of them another name with @Task('…'), or remove the provider from one of the two modules that list it. ` +
          `Tasks found so far: ${listNames(this.names())}.`,
        'RHYTHM_DUPLICATE_TASK',
      );
    }
    this.tasks.set(task.name, task);
  }

  get(name: string): RegisteredTask | undefined {
    return this.tasks.get(name);
  }

  /** The task of this name; throws with the nearest names when there is none. */
  require(name: string): RegisteredTask {
    const task = this.tasks.get(name);
    if (task) return task;
    const known = this.names();
    throw new UnknownNameError(
      'task',
      name,
      known,
      `No task is named "${name}".${didYouMean(name, known)} Tasks of this process: ${listNames(known)}.`,
    );
  }

  has(name: string): boolean {
    return this.tasks.has(name);
  }

  names(): string[] {
    return [...this.tasks.keys()];
  }

  suggest(name: string): string {
    return didYouMean(name, this.tasks.keys());
  }

  all(): RegisteredTask[] {
    return [...this.tasks.values()];
  }
}
