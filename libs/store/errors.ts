// The errors of the store: what the database lacks or refuses, and what to do about it.

import { RhythmError } from '../errors/index.js';

/** The schema lacks something this code needs. */
export class SchemaTooOldError extends RhythmError {
  constructor(
    readonly found: number,
    readonly needed: number,
    schema: string,
  ) {
    super(
      'RHYTHM_SCHEMA_TOO_OLD',
      found === 0
        ? `The database has no Rhythm tables in schema "${schema}". Run \`npx rhythm migrate\`, or start with autoMigrate: true.`
        : `The schema "${schema}" is at version ${found}, this code needs ${needed}. Run \`npx rhythm migrate\`, or start with autoMigrate: true.`,
    );
  }
}

/** A failed run cannot continue. */
export class RetryRefusedError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly why: string,
  ) {
    super('RHYTHM_RETRY_REFUSED', `Execution "${executionId}" cannot be retried. ${why}`);
  }
}

/** The schema has moved on and no longer has what this code uses. */
export class SchemaTooNewError extends RhythmError {
  constructor(
    readonly found: number,
    readonly codeVersion: number,
  ) {
    super(
      'RHYTHM_SCHEMA_TOO_NEW',
      `The database is at schema version ${found} and no longer supports code written for version ${codeVersion}. Update nestjs-rhythm in this process.`,
    );
  }
}

/** No connection of the pool became free in time. Nothing was sent. */
export class PoolBusyError extends RhythmError {
  constructor(
    readonly connections: number,
    waitedMs: number,
    options: { cause: unknown },
  ) {
    super(
      'RHYTHM_POOL_BUSY',
      `All ${connections} connections for calls of this process were in use for ${waitedMs} ms, and nothing was sent. ` +
        'Make fewer calls at the same time (startMany starts a thousand in one), or raise database.maxConnections or database.acquireTimeout.',
      options,
    );
  }
}
