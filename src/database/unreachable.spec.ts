// Which errors mean that the database cannot be reached.

import { describe, expect, it } from '@jest/globals';
import { ExecutionFailedError, ResultTimeoutError } from '../errors.js';
import { isConnectionFailure } from './unreachable.js';

describe('a connection failure', () => {
  it.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('password authentication failed'), { code: '28P01' }),
    new Error('timeout exceeded when trying to connect'),
    new Error('Connection terminated unexpectedly'),
    new AggregateError([Object.assign(new Error(''), { code: 'ETIMEDOUT' })]),
  ])('is %p', (error) => expect(isConnectionFailure(error)).toBe(true));

  it.each([
    new ResultTimeoutError('o-1', 'suspended', 500),
    new ExecutionFailedError('o-1', { name: 'TaskError', message: 'timeout of 3 s exceeded' }),
    Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }),
  ])('is not %p', (error) => expect(isConnectionFailure(error)).toBe(false));
});
