// Error messages for the command line: they name flags and commands where the services name options and methods.

import { ConfigurationError, InvalidArgumentError, ResultTimeoutError, UnknownNameError } from '../errors.js';
import { didYouMean, listNames } from '../nearest.js';
import { span } from './format.js';

/** The message of an error that `command` ended with. */
export function errorMessage(error: unknown, command: string): string {
  if (error instanceof ResultTimeoutError) return notEnded(error);
  if (error instanceof UnknownNameError && command === 'start') return unknownName(error);
  if (error instanceof InvalidArgumentError) return error.message.replace(/\boptions\.(\w+)/g, (_, option: string) => flagOf(option));
  // `worker` boots an application, whose options in code count: the message of the module fits there.
  if (error instanceof ConfigurationError && error.code === 'RHYTHM_DATABASE_URL_MISSING' && command !== 'worker')
    return noDatabase(command);
  return (error as { message?: string }).message || String(error);
}

function notEnded({ executionId, status, timeoutMs }: ResultTimeoutError): string {
  const advice =
    status === 'paused'
      ? `To continue it: rhythm resume ${executionId}`
      : `It continues. Wait longer with --wait, or see what it waits for: rhythm show ${executionId}`;
  return `Execution "${executionId}" has not ended after ${span(timeoutMs)}: it is ${status}. ${advice}`;
}

function unknownName({ kind, target, known }: UnknownNameError): string {
  const task = kind === 'workflow' ? '' : ' To start a task, pass --type task.';
  return `No workflow is named "${target}".${didYouMean(target, known)} Workflows in the database: ${listNames(known)}.${task}`;
}

function noDatabase(command: string): string {
  return [
    'No database is configured. Commands do not see the options that your code passes to RhythmModule.forRoot; set one of:',
    `  rhythm ${command} --database-url postgres://user:password@host:5432/name`,
    '  RHYTHM_DATABASE_URL=postgres://user:password@host:5432/name   (environment or .env; DATABASE_URL also works)',
    '  rhythm.toml:  [database]',
    '                url = "postgres://user:password@host:5432/name"',
    `If the app has database: 'embedded', run this in the folder of the app: rhythm ${command} --database-url embedded`,
  ].join('\n');
}

// Flags that are not the name of the option in kebab case.
const FLAGS: Record<string, string> = { idempotencyKey: 'key', runAt: 'at', tags: 'tag', version: 'flow-version', parentId: 'parent' };

function flagOf(option: string): string {
  return `--${FLAGS[option] ?? option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
