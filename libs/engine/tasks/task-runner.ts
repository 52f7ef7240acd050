// Runs one attempt of a task: gives it its context, limits its time, and turns its outcome into something to be written.

import type { TaskCommit } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { toErrorData } from '../error-data.js';
import { toJsonText } from '../payload.js';
import type { StepRows } from '../turns/step-rows.js';
import { UnreachableError } from '../unreachable.js';
import type { HeldItem, StopReason } from '../work/held-work.js';
import { Attempt } from './attempt.js';
import { nextDelay, policyOf } from './retry-policy.js';
import type { RunnableTask, TaskPolicy } from './runnable-task.js';
import { completed, failed, handedOver } from './task-commits.js';
import { transactionally } from './transactional-task.js';

/**
 * The outcome of an attempt: something to be written, nothing because its own transaction has written it, or nothing because it was
 * stopped. `unreachable`: the connection was lost during the attempt; the commit is what to write if the task itself is the cause.
 */
export type AttemptOutcome = { commit: TaskCommit; unreachable?: UnreachableError } | { written: true } | { stopped: StopReason };

export class TaskRunner {
  constructor(
    private readonly parts: WorkerParts,
    private readonly rows: StepRows,
  ) {}

  /** Runs the attempt of a claimed task. There is no promise when the task returned at once. */
  run(item: HeldItem, task: RunnableTask): AttemptOutcome | Promise<AttemptOutcome> {
    const policy = policyOf(task.policy, item.options);
    const attempt = new Attempt(item, policy, this.parts, this.rows);
    let returned: unknown;
    try {
      returned = attempt.begin() ? attempt.race(this.call(task, attempt)) : undefined;
    } catch (error) {
      return this.threw(attempt, error);
    }
    if (!(returned instanceof Promise)) return this.returned(attempt, returned);
    return returned.then(
      (value) => this.returned(attempt, value),
      (error) => this.threw(attempt, error),
    );
  }

  private returned(attempt: Attempt, value: unknown): AttemptOutcome {
    const { item } = attempt;
    const ended = this.ended(attempt);
    if (ended) return ended;
    if (attempt.handOver) return this.end(attempt, { commit: handedOver(item) });
    let output: string | undefined;
    try {
      output = toJsonText(value, `The result of task "${item.name}"`, this.parts.options);
    } catch (error) {
      return this.threw(attempt, error);
    }
    return this.end(attempt, { commit: completed(item, output) });
  }

  private threw(attempt: Attempt, error: unknown): AttemptOutcome {
    const ended = this.ended(attempt);
    if (ended) return ended;
    const unreachable = error instanceof UnreachableError ? { unreachable: error } : {};
    return this.end(attempt, { commit: this.failed(attempt.item, attempt.policy, error), ...unreachable });
  }

  // Nothing is to be written any more, whatever the task returned or threw.
  private ended(attempt: Attempt): AttemptOutcome | undefined {
    if (attempt.committed?.done) return this.end(attempt, { written: true });
    return attempt.stopped && this.end(attempt, { stopped: attempt.stopped });
  }

  private end(attempt: Attempt, outcome: AttemptOutcome): AttemptOutcome {
    attempt.end();
    return outcome;
  }

  // What is returned may be a promise, as what the task returns may be.
  private call(task: RunnableTask, attempt: Attempt): unknown {
    const returned = task.policy.transactional ? this.transactionally(task, attempt) : callTask(task, attempt, undefined);
    return attempt.handOver || isThenable(returned) ? settled(returned, attempt) : returned;
  }

  private transactionally(task: RunnableTask, attempt: Attempt): unknown {
    const committed = { done: false };
    attempt.committed = committed;
    return transactionally(this.parts, attempt.item, async (manager) => callTask(task, attempt, manager), committed);
  }

  private failed(item: HeldItem, policy: TaskPolicy, error: unknown): TaskCommit {
    const attempts = item.attempts + 1;
    const data = {
      ...toErrorData(
        error ?? { message: `Task "${item.name}" threw ${error}. Throw an Error that says what happened.` },
        this.parts.options.payloadBytes,
      ),
      attempts,
    };
    return failed(item, data, attempts, isRefusedResult(data) ? undefined : this.nextDelay(item, policy, attempts, error));
  }

  // If a `retryOn` of the app throws, the task is retried as if it had none, and the error is logged.
  private nextDelay(item: HeldItem, policy: TaskPolicy, attempts: number, error: unknown): number | undefined {
    const { logger, runtime } = this.parts;
    try {
      return nextDelay(policy, attempts, error, runtime.random);
    } catch (broken) {
      logger.error(`[${item.name} ${item.id}] retryOn itself threw: ${toErrorData(broken).message} The task is retried as if it had none.`);
      return nextDelay({ ...policy, retryOn: undefined }, attempts, undefined, runtime.random);
    }
  }
}

function callTask(task: RunnableTask, attempt: Attempt, manager: unknown): unknown {
  return task.run(parse(attempt.item.input), attempt.context(manager));
}

async function settled(returned: unknown, attempt: Attempt): Promise<unknown> {
  const value = await returned;
  // Asked for without an await, the token may not be stored yet; if it cannot be, the attempt has failed.
  if (attempt.handOver) await attempt.handOver;
  return value;
}

function isThenable(value: unknown): boolean {
  const mayBe = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return mayBe && typeof (value as { then?: unknown }).then === 'function';
}

function parse(input: string | null): unknown {
  return input === null ? undefined : JSON.parse(input);
}

// A result that cannot be stored cannot be stored the next time either.
function isRefusedResult(error: unknown): boolean {
  return typeof (error as { code?: unknown })?.code === 'string' && /^RHYTHM_PAYLOAD/.test((error as { code: string }).code);
}
