// The ways in which a turn in another process does not come to its end.

import { RhythmError } from '../errors/index.js';

/**
 * The process that ran the turn was ended or ended itself. It counts as a crash of the execution, because the turn may be the reason:
 * `RHYTHM_ISOLATED_TIME`, `RHYTHM_ISOLATED_MEMORY`, `RHYTHM_ISOLATED_REPLY` and, for any other end, `RHYTHM_ISOLATED_ENDED`.
 */
export class TurnKilledError extends RhythmError {}

/** Too many turns wait for a process. Nothing was run; `retryMs` is about how long it takes until there is room. */
export class IsolationBusyError extends RhythmError {
  constructor(
    waiting: number,
    readonly retryMs: number,
  ) {
    super(
      'RHYTHM_ISOLATED_BUSY',
      `${waiting} turns of isolated flows wait in this worker already. This one waits in the database. If that is often so, raise isolation.processes or add workers.`,
    );
  }
}

/** No process could be started. Nothing was run. */
export class IsolationStartError extends RhythmError {
  constructor(reason: string) {
    super('RHYTHM_ISOLATED_START', `The process for isolated flows did not start: ${reason}`);
  }
}

/** The worker stops. What was run is dropped. */
export class TurnStoppedError extends RhythmError {
  constructor() {
    super('RHYTHM_ISOLATED_STOPPED', 'The worker stopped before the turn of an isolated flow had ended.');
  }
}
