// Why an embedded PostgreSQL could not be started, always with what to do about it.
import { RhythmError } from '../errors/index.js';

/** What kept an embedded PostgreSQL from starting. */
export type EmbeddedErrorCode =
  | 'RHYTHM_EMBEDDED_MISSING'
  | 'RHYTHM_EMBEDDED_PLATFORM'
  | 'RHYTHM_EMBEDDED_USER'
  | 'RHYTHM_EMBEDDED_VERSION'
  | 'RHYTHM_EMBEDDED_START'
  | 'RHYTHM_EMBEDDED_KEEPER';

/** An embedded PostgreSQL could not be started; the message says what happened and what to do. */
export class EmbeddedPostgresError extends RhythmError {
  constructor(code: EmbeddedErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** The alternative that always exists; the end of every message of this room. */
export const OR_OWN_SERVER = 'Or set RHYTHM_DATABASE_URL to the address of a PostgreSQL server of your own.';
