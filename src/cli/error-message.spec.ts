// The error messages of the command line.

import { describe, expect, it } from '@jest/globals';
import { ConfigurationError, ExecutionStateError, InvalidArgumentError, ResultTimeoutError, UnknownNameError } from '../errors.js';
import { errorMessage } from './error-message.js';

describe('an error message', () => {
  it('says what to do about a run that has not ended, paused or not', () => {
    expect(errorMessage(new ResultTimeoutError('o-1', 'suspended', 500), 'start')).toBe(
      'Execution "o-1" has not ended after 500ms: it is suspended. It continues. Wait longer with --wait, or see what it waits for: rhythm show o-1',
    );
    expect(errorMessage(new ResultTimeoutError('o-1', 'paused', 500), 'start')).toMatch(
      /it is paused\. To continue it: rhythm resume o-1$/,
    );
  });

  it('names flags where the module names options', () => {
    const wrong = (message: string) => errorMessage(new InvalidArgumentError('RHYTHM_OPTION_INVALID', 'options', message), 'start');
    expect(wrong('options.runAt: "x" is not a valid date.')).toBe('--at: "x" is not a valid date.');
    expect(wrong('options.idempotencyKey is too long, as is options.createdAfter.')).toBe('--key is too long, as is --created-after.');
    const unknown = errorMessage(new UnknownNameError('workflow or task', 'ordr', ['order'], "pass { type: 'task' }"), 'start');
    expect(unknown).toBe(
      'No workflow is named "ordr". Did you mean "order"? Workflows in the database: "order". To start a task, pass --type task.',
    );
  });

  it('explains how to set the database, even an embedded one', () => {
    const missing = new ConfigurationError('RhythmModule.forRoot({ … })', 'RHYTHM_DATABASE_URL_MISSING');
    expect(errorMessage(missing, 'list')).toMatch(
      /^No database is configured[\s\S]* rhythm list --database-url postgres:[\s\S]* rhythm list --database-url embedded$/,
    );
    expect(errorMessage(missing, 'worker')).toBe('RhythmModule.forRoot({ … })');
  });

  it('is otherwise the message of the error', () => {
    expect(errorMessage(new ExecutionStateError('a', 'failed', 'cancel', 'It has already ended.'), 'cancel')).toMatch(
      /^Cannot cancel execution "a"/,
    );
    expect(errorMessage('a text', 'list')).toBe('a text');
  });
});
