// The failure of a task whose guard or pipe refused the call: it is final, and has the details that the refusal gave.

import { NonRetryableError } from '../errors.js';

/** What Nest's HttpException offers; the app may have another copy of its class. */
interface Refusal extends Error {
  getStatus(): number;
  getResponse(): string | object;
}

// These ask the caller to come again.
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** A guard or a pipe has said no. Whatever else they throw may be a passing fault, and is retried like any other. */
export function isRefusal(error: unknown): error is Refusal {
  if (!(error instanceof Error) || typeof (error as Partial<Refusal>).getStatus !== 'function') return false;
  const status = (error as Refusal).getStatus();
  return status >= 400 && status < 500 && !TEMPORARY.has(status);
}

/** `thrown` is the refusal, or what an exception filter made of it. */
export function refusedTask(task: string, by: 'guard' | 'pipe', thrown: unknown): NonRetryableError {
  const response = isRefusal(thrown) ? thrown.getResponse() : undefined;
  const what = by === 'guard' ? `A guard refused task "${task}"` : `The input of task "${task}" was refused`;
  return new NonRetryableError(`${what}: ${detailsOf(response) ?? messageOf(thrown)}`, {
    code: by === 'guard' ? 'RHYTHM_TASK_FORBIDDEN' : 'RHYTHM_TASK_INPUT',
    data: response ?? (thrown as { data?: unknown } | null)?.data,
    cause: thrown,
  });
}

// ValidationPipe gives a list of messages, most others one.
function detailsOf(response: string | object | undefined): string | undefined {
  if (typeof response !== 'object') return response;
  const { message } = response as { message?: unknown };
  if (Array.isArray(message)) return message.map(String).join('; ');
  return typeof message === 'string' ? message : undefined;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
