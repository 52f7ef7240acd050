// One failure is one line of the log, whatever its error says.

import { describe, expect, it } from '@jest/globals';
import { type Failure, failureLine } from './failure-line.js';
import { FailureQuota } from './failure-quota.js';

const FACTS = { executionId: 'order-7', name: 'charge', kind: 'task', queue: 'default', version: null, parentId: null } as const;
const failed = (message: string, attempts = 3): Failure => ({
  type: 'failed',
  ...FACTS,
  attempts,
  error: { name: 'Error', message, code: 'DOWN' },
});

describe('the line of a failure', () => {
  it('has the name, the id, the attempt and the error', () => {
    expect(failureLine(failed('no reply'))).toBe('Task "charge" (execution order-7) failed after 3 attempts. Error [DOWN]: no reply');
    expect(failureLine({ type: 'retried', ...FACTS, attempt: 1, delayMs: 500, error: { name: 'TypeError', message: 'x' } })).toBe(
      'Task "charge" (execution order-7) failed in attempt 1 and is tried again in 500 ms. TypeError: x',
    );
    expect(failureLine({ ...failed('x', 1), kind: 'workflow', name: 'order' } as Failure)).toBe(
      'Workflow "order" (execution order-7) failed. Error [DOWN]: x',
    );
    expect(failureLine(failed('it did not start', 0))).toBe('Task "charge" (execution order-7) failed. Error [DOWN]: it did not start');
  });

  it('cannot be split, coloured or reversed by the message of an error', () => {
    const line = failureLine(failed('a\r\n[Nest] LOG all is well\u001b[31m\u2028\u202eb\u0085c'));
    expect(line).toMatch(/: a \[Nest\] LOG all is well \[31m b c$/);
  });

  it('is short, however long the message is', () => {
    expect(failureLine(failed('x'.repeat(10_000))).length).toBeLessThan(700);
  });
});

describe('the quota of failures', () => {
  it('lets so many of each name and level through, and counts the rest', () => {
    const quota = new FailureQuota(2);
    const taken = [1, 2, 3, 4].map(() => quota.take('warn', 'task', 'charge'));
    expect(taken).toEqual([true, true, false, false]);
    expect(quota.take('error', 'task', 'charge')).toBe(true);
    expect(quota.take('warn', 'task', 'pack')).toBe(true);
    expect(quota.reset()).toEqual([{ level: 'warn', kind: 'task', name: 'charge', count: 2 }]);
    expect(quota.take('warn', 'task', 'charge')).toBe(true);
  });

  it('counts names beyond the first thousand together', () => {
    const quota = new FailureQuota(1);
    for (let n = 0; n < 1_000; n++) quota.take('error', 'workflow', `flow-${n}`);
    expect(quota.take('error', 'workflow', 'flow-1000')).toBe(true);
    expect(quota.take('error', 'workflow', 'flow-1001')).toBe(false);
    expect(quota.reset()).toEqual([{ level: 'error', kind: 'workflow', name: 'other names', count: 1 }]);
  });

  it('has no limit when it is 0', () => {
    const quota = new FailureQuota(0);
    for (let n = 0; n < 100; n++) expect(quota.take('warn', 'task', 'charge')).toBe(true);
    expect(quota.reset()).toEqual([]);
  });
});
