// Every setting of Rhythm, once: the same table checks module options, RHYTHM_* variables and rhythm.toml.

import {
  choice,
  databaseUrl,
  duration,
  durationOrNever,
  durationOrSeconds,
  flag,
  integer,
  names,
  type OptionsOf,
  optionalString,
  type SettingsOf,
  string,
} from './setting.js';

const IDENTIFIER = {
  // PostgreSQL keeps names that begin with pg_ for itself.
  test: /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,47}$/i,
  mustBe: 'an SQL name of up to 48 letters, digits and "_" that does not begin with "pg_"',
};

/**
 * The table. A key `database.maxConnections` is `database: { maxConnections }` in code, `max_connections` under
 * `[database]` in rhythm.toml, and `RHYTHM_DATABASE_MAX_CONNECTIONS` in the environment.
 */
export const SCHEMA = {
  role: choice('What this process does: serve the API, run work, or both.', 'both', ['both', 'api', 'worker']),
  autoMigrate: flag('Brings the schema up to date at start. When off, run `rhythm migrate` before a deploy.', true),
  database: {
    url: databaseUrl('Where the database is; "embedded" starts a real PostgreSQL from npm for development. Required.', ['embedded']),
    readUrl: databaseUrl('A replica for list, tree and history; they may then be a moment behind.'),
    listenUrl: databaseUrl('A direct address for LISTEN when `url` is a transaction pooler.'),
    schema: string('The schema of the tables of Rhythm.', 'rhythm', IDENTIFIER),
    embeddedDir: string('Where the embedded PostgreSQL keeps its data.', '.rhythm/postgres'),
    pooled: flag('`url` is a pooler in transaction mode (PgBouncer): no named statements, no LISTEN on it.', false),
    maxConnections: integer(
      'Maximum number of connections of this process. Four processes fit on a server with its default of 100.',
      20,
      10,
      10_000,
    ),
    minConnections: integer('Connections kept open while idle.', 2, 0, 10_000),
    acquireTimeout: durationOrSeconds('How long a call waits for a free connection.', '10s', '1s', '1h'),
    idleTimeout: durationOrSeconds('Idle connections above the minimum are closed after this.', '10m', '1s', '24h'),
    maxLifetime: durationOrSeconds('Connections are renewed after this; 0 for never.', '30m', 0, '7d'),
  },
  worker: {
    queues: names('The queues this worker serves.', ['default']),
    concurrency: integer('Tasks that run at the same time in this process.', 50, 1, 100_000),
    claimBatch: integer('Maximum number of executions taken from the queue at once.', 200, 1, 5_000),
    pollInterval: duration('How often an idle worker looks for work when no notification arrives.', '1s', '10ms'),
    heartbeatInterval: duration('How often a worker writes its heartbeat.', '5s', '50ms'),
    deadAfter: duration('How long a worker may be silent before its work is given to others.', '30s', '200ms'),
    shutdownGrace: duration('How long running tasks may take to finish at shutdown before they are aborted and given back.', '20s'),
    maxCrashes: integer('Crashes in a row without progress after which an execution is quarantined.', 5, 1, 1_000),
    cacheBytes: integer(
      'About how much memory the workflows that a worker caches between turns may take together; 0 for none.',
      67_108_864,
      0,
      Number.MAX_SAFE_INTEGER,
    ),
    id: optionalString('A readable prefix of the worker id; default: host name and process id.'),
  },
  task: {
    maxAttempts: integer('Attempts of a task whose declaration does not set them, including the first.', 3, 1, 10_000),
    retryDelay: duration('Wait before the second attempt.', '1s'),
    maxRetryDelay: duration('Longest wait between attempts.', '5m'),
  },
  history: {
    maxSteps: integer(
      'Finished steps kept per workflow run, and up to a twentieth more before the oldest go; 0 for none.',
      1_000,
      0,
      1_000_000,
    ),
    snapshots: integer(
      'The last states kept per workflow run, each with the calls that it waits for; 0 for none. A state is written again in full for each.',
      0,
      0,
      10_000,
    ),
  },
  retention: {
    completed: durationOrNever('How long a completed run is kept after its end; false for ever.', '30d', '1m'),
    failed: durationOrNever('How long a failed run is kept. It may be retried as long as it is there.', false, '1m'),
    cancelled: durationOrNever('How long a cancelled run is kept.', '30d', '1m'),
    history: durationOrNever('How long an entry in the history of a run is kept, at most as long as its run.', false, '1m'),
    keys: durationOrNever(
      'How long the id of a removed run, if it was chosen by a caller, a key or a schedule, cannot be started again. Never shorter than the other ages, and raised to the longest of them when it is not set.',
      '30d',
      '1m',
    ),
  },
  cancel: {
    grace: duration('How long a cancelled flow may clean up.', '1m'),
  },
  log: {
    failures: choice(
      'Which failures are logged: "all" (each attempt that is tried again as a warning, each execution that failed as an error), "final" (only the errors), or "none".',
      'all',
      ['all', 'final', 'none'],
    ),
    failuresPerMinute: integer(
      'Lines per minute and name, of each level; the rest of the minute is counted in one line. 0 for no limit.',
      30,
      0,
      1_000_000,
    ),
  },
  isolation: {
    processes: integer('Most processes in which a worker runs the turns of isolated flows, each one turn at a time.', 2, 1, 64),
    memoryBytes: integer(
      'A process of isolated flows is ended when it uses more memory than this.',
      536_870_912,
      201_326_592,
      68_719_476_736,
    ),
    turnTimeout: duration('How long a turn of an isolated flow may take before its process is ended.', '10s', '100ms', '1h'),
    idleTimeout: duration('A process of isolated flows without work is ended after this.', '1m', '1s', '24h'),
    turnsPerProcess: integer(
      'A process of isolated flows is replaced after this many turns; with 1 no two runs ever share one.',
      10_000,
      1,
      1_000_000,
    ),
  },
  limits: {
    payloadBytes: integer('Bytes of one input, result or signal payload as JSON.', 1_048_576, 1_024, 134_217_728),
    payloadDepth: integer('Nesting of one payload.', 200, 8, 1_000),
    snapshotWarnBytes: integer('A run whose stored state is larger than this is logged with a warning.', 65_536, 1_024, 134_217_728),
    snapshotBytes: integer('A run whose stored state is larger than this fails.', 8_388_608, 4_096, 268_435_456),
    heapBytes: integer('Memory of one run, as counted by the VM.', 67_108_864, 65_536, 2_147_483_647),
    workerHeapBytes: integer(
      'Memory of all turns of one worker that are longer than a slice or wait to be written, as counted by the VM; beyond it they run one after another.',
      16_777_216,
      65_536,
      Number.MAX_SAFE_INTEGER,
    ),
    fuelPerTurn: integer('Instructions a flow may spend between two awaits.', 50_000_000, 10_000, 9_007_199_254_740_991),
    callDepth: integer('Calls inside one another in a flow.', 1_000, 10, 30_000),
    signalsPerRun: integer('Signals of one run that no wait has taken.', 10_000, 1, 1_000_000),
    depth: integer('Calls of workflows inside one another, counted from the run that was started.', 100, 1, 190),
    descendants: integer('About how many executions below one root may be there at the same time.', 100_000, 100, 10_000_000),
    pendingEffects: integer('Durable calls of one run that are pending at the same time.', 20_000, 1, 1_000_000),
  },
} as const;

/** All settings, checked and complete. Durations are milliseconds. */
export type RhythmSettings = SettingsOf<typeof SCHEMA>;

/** The settings as options in code; what is left out comes from the environment, the file or the defaults. */
export type SettingOptions = Omit<OptionsOf<typeof SCHEMA>, 'database'> & {
  /** A URL, "embedded", or the settings one by one. */
  database?: string | OptionsOf<(typeof SCHEMA)['database']>;
};
