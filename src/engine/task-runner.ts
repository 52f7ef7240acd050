// Runs one attempt of a task: hands it its context, bounds its time, and turns what it did into something to be written.

import { bucketOfRelative, type ParentCall, type TaskCommit } from '../../libs/store/index.js';
import { toJsonText } from '../payload.js';
import type { RegisteredTask } from '../tasks/task.registry.js';
import type { TaskPolicy } from '../tasks/task-options.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { cancelledError, toErrorData } from './error-data.js';
import type { HeldItem, StopReason } from './held-work.js';
import { OutOfReachError } from './out-of-reach.js';
import { nextDelay, policyOf } from './retry-policy.js';

/**
 * What an attempt came to: something to be written, or nothing because the item was stopped. `outOfReach`: the database went
 * away under it; the commit is what to write if that is not to be believed any more.
 */
export type AttemptOutcome = { commit: TaskCommit; outOfReach?: OutOfReachError } | { stopped: StopReason };

/** Calls the task, in whatever has to stand around it. What is answered may be a promise, as what the task returns may be. */
type Around = (task: RegisteredTask, call: (manager?: unknown) => unknown) => unknown;

export interface TaskRunnerParts extends AttemptParts {
  random: () => number;
}

export class TaskRunner {
  constructor(private readonly parts: TaskRunnerParts) {}

  /** Runs the attempt of a claimed task. `around` wraps the call, for transactional tasks. */
  async run(item: HeldItem, task: RegisteredTask, around: Around): Promise<AttemptOutcome> {
    const policy = policyOf(task.policy, item.options);
    const attempt = new Attempt(item, policy, this.parts);
    try {
      const raced = attempt.race(() => call(task, attempt, around));
      // A task that returned at once is not waited for.
      const value = raced instanceof Promise ? await raced : raced;
      if (attempt.stopped) return { stopped: attempt.stopped };
      if (attempt.handOver) return { commit: this.handedOver(item) };
      const output = toJsonText(value, `The result of task "${item.name}"`, this.parts.options);
      return { commit: completed(item, output) };
    } catch (error) {
      if (attempt.stopped) return { stopped: attempt.stopped };
      return { commit: this.failed(item, policy, error), ...(error instanceof OutOfReachError ? { outOfReach: error } : {}) };
    } finally {
      attempt.end();
    }
  }

  private failed(item: HeldItem, policy: TaskPolicy, error: unknown): TaskCommit {
    const attempts = item.attempts + 1;
    const data = {
      ...toErrorData(error ?? { message: `Task "${item.name}" threw ${error}. Throw an Error that says what happened.` }),
      attempts,
    };
    const delay = isRefusedResult(data) ? undefined : this.nextDelay(item, policy, attempts, error);
    return {
      ...base(item),
      attempts,
      error: JSON.stringify(data),
      ...(delay === undefined ? { status: 'failed' as const } : { status: 'pending' as const, retryAfterMs: delay }),
    };
  }

  // A filter of the app's that throws has given no answer: the attempt counts as one without a filter, and people hear of it.
  private nextDelay(item: HeldItem, policy: TaskPolicy, attempts: number, error: unknown): number | undefined {
    try {
      return nextDelay(policy, attempts, error, this.parts.random);
    } catch (broken) {
      this.parts.logger.error(
        `[${item.name} ${item.id}] retryOn itself threw: ${toErrorData(broken).message} The task is retried as if it had none.`,
      );
      return nextDelay({ ...policy, retryOn: undefined }, attempts, undefined, this.parts.random);
    }
  }

  private handedOver(item: HeldItem): TaskCommit {
    return { ...base(item), status: 'suspended' };
  }
}

function call(task: RegisteredTask, attempt: Attempt, around: Around): unknown {
  const returned = around(task, (manager) => task.run(parse(attempt.item.input), attempt.context(manager)));
  return attempt.handOver || isThenable(returned) ? settled(returned, attempt) : returned;
}

async function settled(returned: unknown, attempt: Attempt): Promise<unknown> {
  const value = await returned;
  // Asked for without an await, the token may still be on its way; if it cannot be made, the attempt has failed.
  if (attempt.handOver) await attempt.handOver;
  return value;
}

function isThenable(value: unknown): boolean {
  const mayBe = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return mayBe && typeof (value as { then?: unknown }).then === 'function';
}

/** The end of a task by its result. */
export function completed(item: HeldItem, output: string | undefined): TaskCommit {
  return { ...base(item), status: 'completed', output };
}

/** The end of a task by a cancel. */
export function cancelled(item: HeldItem, reason: string | undefined): TaskCommit {
  return { ...base(item), status: 'cancelled', error: JSON.stringify(cancelledError(reason)), control: true };
}

/** A task that is failed without having run: quarantined, or its values cannot be written. */
export function failedAtOnce(item: HeldItem, error: unknown): TaskCommit {
  return { ...base(item), status: 'failed', error: JSON.stringify({ ...toErrorData(error), attempts: item.attempts }) };
}

/** Whom an item tells of its end. */
export function parentOf(item: Pick<HeldItem, 'id' | 'bucket' | 'parentId' | 'parentCall'>): ParentCall | undefined {
  if (item.parentId === null || item.parentCall === null) return undefined;
  return { id: item.parentId, bucket: bucketOfRelative(item.parentId, item), call: item.parentCall };
}

function base(item: HeldItem): Omit<TaskCommit, 'status'> {
  const { options } = item;
  return {
    id: item.id,
    bucket: item.bucket,
    fence: item.fence,
    attempts: item.attempts,
    startedAt: item.claimedAt,
    parent: parentOf(item),
    clearSchedule: options?.totalTimeoutMs !== undefined || options?.startTimeoutMs !== undefined,
  };
}

function parse(input: string | null): unknown {
  return input === null ? undefined : JSON.parse(input);
}

// A result that cannot be stored will not be storable the next time either.
function isRefusedResult(error: unknown): boolean {
  return typeof (error as { code?: unknown })?.code === 'string' && /^RHYTHM_PAYLOAD/.test((error as { code: string }).code);
}
