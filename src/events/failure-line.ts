// One failure as one line of the log.

import type { EngineEvent, ErrorFacts } from '../../libs/engine/index.js';

/** An attempt that is tried again, or an execution that failed for good. */
export type Failure = Extract<EngineEvent, { type: 'retried' | 'failed' }>;

const LONGEST_TEXT = 500;

/** What failed, in which attempt, and with which error. The error's data and stack are in the database (`rhythm show`). */
export function failureLine(failure: Failure): string {
  const { executionId, name, kind, error } = failure;
  const what = `${kind === 'task' ? 'Task' : 'Workflow'} "${oneLine(name)}" (execution ${oneLine(executionId)})`;
  if (failure.type === 'retried')
    return `${what} failed in attempt ${failure.attempt} and is tried again in ${Math.round(failure.delayMs)} ms. ${errorText(error)}`;
  // A time limit may end a task before its first attempt.
  const after =
    kind === 'task' && failure.attempts > 0 ? ` after ${failure.attempts} ${failure.attempts === 1 ? 'attempt' : 'attempts'}` : '';
  return `${what} failed${after}. ${errorText(error)}`;
}

function errorText({ name, message, code }: ErrorFacts): string {
  return oneLine(`${name}${code === undefined ? '' : ` [${code}]`}: ${message}`);
}

// An error's message may contain whatever a user has sent: no character of it may begin a new line of the log or steer a terminal.
function oneLine(text: string): string {
  const short = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return short.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
}
