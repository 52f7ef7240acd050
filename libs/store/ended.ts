// The statuses of an execution by what they mean: whether it has ended, for good or not, and whether it can move.

/** The statuses in which an execution has ended. */
export const ENDED_STATUSES = ['completed', 'failed', 'cancelled'] as const;
export type EndedStatus = (typeof ENDED_STATUSES)[number];

/** Whether an execution with this status has ended. */
export function isEnded(status: string): status is EndedStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** In SQL, behind IN: it has ended. */
export const ENDED = `('completed', 'failed', 'cancelled')`;
/** It has ended for good: a failed execution may be retried, and keeps its events for that. */
export const ENDED_FOR_GOOD = `('completed', 'cancelled')`;
/** It has not ended. */
export const LIVE = `('pending', 'suspended', 'paused')`;
/** It has not ended and is not paused. */
export const ACTIVE = `('pending', 'suspended')`;
