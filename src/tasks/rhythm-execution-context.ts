// What an enhancer of a task sees of the call: its input and its TaskContext.

import type { ArgumentsHost } from '@nestjs/common';
import type { TaskContext } from '../../libs/engine/index.js';

/** `context.getType<RhythmContextType>()` in a guard, pipe, interceptor or filter around a task. */
export type RhythmContextType = 'rhythm';

/** The context type of a task, as Nest's enhancers are given it. */
export const RHYTHM_CONTEXT: RhythmContextType = 'rhythm';

/**
 * The call of a task, for guards, interceptors, exception filters and parameter decorators.
 *
 * @publicApi
 */
export class RhythmExecutionContext {
  private constructor(private readonly host: ArgumentsHost) {}

  /** Throws if the call is not that of a task: an enhancer that also serves HTTP asks `context.getType()` first. */
  static create(host: ArgumentsHost): RhythmExecutionContext {
    const type = host.getType<string>();
    if (type === RHYTHM_CONTEXT) return new RhythmExecutionContext(host);
    throw new TypeError(
      `RhythmExecutionContext.create() was given a context of type "${type}". Ask context.getType() === "${RHYTHM_CONTEXT}" first.`,
    );
  }

  /** The input as it was stored, before any pipe. */
  getInput<Input = unknown>(): Input {
    return this.host.getArgByIndex<Input>(0);
  }

  getTaskContext(): TaskContext {
    return this.host.getArgByIndex<TaskContext>(1);
  }
}
