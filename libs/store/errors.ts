// The errors of the store: what the database cannot give, and what to do about it.

/** The schema lacks something this code needs. */
export class SchemaTooOldError extends Error {
  readonly code = 'RHYTHM_SCHEMA_TOO_OLD';
  constructor(
    readonly found: number,
    readonly needed: number,
    schema: string,
  ) {
    super(
      found === 0
        ? `The database has no Rhythm tables in schema "${schema}". Run \`npx rhythm migrate\`, or start with autoMigrate: true.`
        : `The schema "${schema}" is at version ${found}, this code needs ${needed}. Run \`npx rhythm migrate\`, or start with autoMigrate: true.`,
    );
    this.name = 'SchemaTooOldError';
  }
}

/** A failed run cannot continue. */
export class RetryRefusedError extends Error {
  readonly code = 'RHYTHM_RETRY_REFUSED';
  constructor(
    readonly executionId: string,
    readonly why: string,
  ) {
    super(`Execution "${executionId}" cannot be retried. ${why}`);
    this.name = 'RetryRefusedError';
  }
}

/** The schema has moved on and no longer has what this code uses. */
export class SchemaTooNewError extends Error {
  readonly code = 'RHYTHM_SCHEMA_TOO_NEW';
  constructor(
    readonly found: number,
    readonly codeVersion: number,
  ) {
    super(
      `The database is at schema version ${found} and no longer supports code written for version ${codeVersion}. Update nestjs-rhythm in this process.`,
    );
    this.name = 'SchemaTooNewError';
  }
}
