// What the server refuses at boot, in the words of the person who has to change it: missing rights, a server that takes no writes.

import { RhythmError } from '../errors.js';

/** The server refused to let Rhythm work at all. */
export class DatabaseRefusedError extends RhythmError {
  constructor(message: string, cause: unknown) {
    super('RHYTHM_DATABASE_REFUSED', message, { cause });
  }
}

/** The error of a boot with what to do about it, if it is one that the server's settings cause. */
export function explainRefusal(error: unknown, schema: string): unknown {
  const { code, message } = ((error as { driverError?: unknown })?.driverError ?? error ?? {}) as { code?: string; message?: string };
  switch (code) {
    case '42501':
      return new DatabaseRefusedError(
        `The role of database.url lacks a right that it needs: ${message}. Either let it own the schema (CREATE SCHEMA "${schema}" AUTHORIZATION …), so that it migrates by itself, ` +
          `or migrate with another role (rhythm migrate), set autoMigrate to false, and grant this one USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, and USAGE on its sequences.`,
        error,
      );
    case '25006':
      return new DatabaseRefusedError(
        `The server takes no writes: ${message}. Either it is a replica (set database.url to the primary, and database.readUrl to the replica), or default_transaction_read_only is on for this role or database.`,
        error,
      );
    default:
      return error;
  }
}
