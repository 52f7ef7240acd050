// The error of a database that cannot be reached: its address, what went wrong, and what to check.

import { maskUrl, maskUrlsIn } from '../config/mask-url.js';
import { RhythmError } from '../errors.js';

/** The database could not be reached at start. */
export class DatabaseUnreachableError extends RhythmError {
  constructor(url: string, cause: unknown) {
    const { message, code } = firstError(cause);
    super(
      'RHYTHM_DATABASE_UNREACHABLE',
      `Cannot connect to PostgreSQL at ${maskUrl(url)}: ${maskUrlsIn(message || code)}. ${adviceFor(code)}`,
      {
        cause,
      },
    );
  }
}

/** Whether the server refused the login (28…, 3D000, 53300), or the network failed before it. */
export function isConnectionFailure(error: unknown): boolean {
  // Messages of other errors, ours and the server's, mention timeouts too.
  if (error instanceof RhythmError) return false;
  const { code, message } = firstError(error);
  return /^(E[A-Z_]+|28...|3D000|53300|57P03)$/.test(code) || (code === '' && /timeout|Connection terminated/i.test(message));
}

// For a host with several addresses Node throws an AggregateError without a message of its own.
function firstError(error: unknown): { message: string; code: string } {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return { message: String(inner?.message ?? ''), code: String(inner?.code ?? '') };
}

function adviceFor(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'Nothing listens there: check that the server is running, and the host and port.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'The host name is unknown: check its spelling and the DNS of this machine.';
    case '28P01':
    case '28000':
      return 'The server refused the user or the password.';
    case '3D000':
      return 'The server has no database of this name: create it, or correct the URL.';
    case '53300':
      return 'The server has no free connection: lower database.maxConnections or raise max_connections of the server.';
    default:
      return 'Check the URL, the network and the server log.';
  }
}
