// The ends of a task as they are written: completed, failed, cancelled, tried again, handed over.

import { bucketOfRelative, type ExecutionOptions, type ParentCall, type TaskCommit } from '../../store/index.js';
import { cancelledError, toErrorData } from '../error-data.js';
import type { HeldItem } from '../work/held-work.js';

/** The end of a task by its result. */
export function completed(item: HeldItem, output: string | undefined): TaskCommit {
  const { id, bucket, fence, attempts, claimedAt, options } = item;
  // Nearly every task ends so: one object, written at once.
  return {
    id,
    bucket,
    fence,
    status: 'completed',
    output,
    attempts,
    startedAt: claimedAt,
    parent: parentOf(item),
    clearSchedule: options !== null && hasSchedule(options),
  };
}

/** The end of an attempt by an error: the next attempt after `retryAfterMs`, or the end of the task. */
export function failed(item: HeldItem, error: object, attempts: number, retryAfterMs: number | undefined): TaskCommit {
  const ending = retryAfterMs === undefined ? { status: 'failed' as const } : { status: 'pending' as const, retryAfterMs };
  return { ...base(item), attempts, error: JSON.stringify(error), ...ending };
}

/** The end of a task by a cancel. */
export function cancelled(item: HeldItem, reason: string | undefined): TaskCommit {
  return { ...base(item), status: 'cancelled', error: JSON.stringify(cancelledError(reason)), control: true };
}

/** The task has returned, and ends when its completion token is used. */
export function handedOver(item: HeldItem): TaskCommit {
  return { ...base(item), status: 'suspended' };
}

/** A task that is failed without having run: quarantined, or its values cannot be written. */
export function failedAtOnce(item: HeldItem, error: unknown): TaskCommit {
  return { ...base(item), status: 'failed', error: JSON.stringify({ ...toErrorData(error), attempts: item.attempts }) };
}

/** The call of the parent that waits for this execution. */
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
    clearSchedule: options !== null && hasSchedule(options),
  };
}

function hasSchedule({ totalTimeoutMs, startTimeoutMs }: ExecutionOptions): boolean {
  return totalTimeoutMs !== undefined || startTimeoutMs !== undefined;
}
