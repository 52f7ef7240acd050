// The checks of `rhythm doctor`: each returns a finding with what to do about it.

import { startEmbedded } from '../../libs/embedded/index.js';
import {
  createDataSource,
  isDatabaseError,
  isTransactionPooler,
  longTransactions,
  PoolRunner,
  probeServer,
  readClockAhead,
  readQueues,
  readQueueTables,
  readServerHealth,
  readUnserved,
  readWorkers,
  SCHEMA_VERSION,
  type ServerFacts,
  type ServerHealth,
  schemaVersion,
} from '../../libs/store/index.js';
import type { RhythmSettings } from '../config/schema.js';
import { silentAfter } from '../config/silent-after.js';
import { DatabaseUnreachableError, isConnectionFailure } from '../database/unreachable.js';
import { count, span } from './format.js';
import { clockFinding, poolFinding, serverFindings, vacuumFindings, version } from './server-checks.js';

/** What one check found. */
export interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'broken';
  found: string;
  advice?: string;
  /** The database could not be reached, so nothing else was checked. */
  unreachable?: true;
}

const CONNECT_MS = 5_000;
const SKEW_MS = 1_000;
const LONG_SECONDS = 60;
const LONG = span(LONG_SECONDS * 1_000);
const STUCK_MS = 60_000;

/** Runs all checks. If the database cannot be reached, that is the only finding. */
export async function runChecks(settings: RhythmSettings): Promise<Finding[]> {
  const { database } = settings;
  const embedded = database.url === 'embedded' ? await startEmbedded({ dataDir: database.embeddedDir, durable: true }) : undefined;
  const url = embedded?.url ?? (database.url as string);
  const connection = { url, schema: database.schema, pooled: true, applicationName: 'rhythm doctor', connectTimeoutMs: CONNECT_MS };
  const db = new PoolRunner(connection, { max: 2 });
  try {
    const [server, skew] = await askServer(db);
    const health = await readServerHealth(db).catch(unreadable);
    const findings = [reachable(server), connections(server, settings), clock(skew), await pooler(connection, settings)];
    findings.push(...(isFinding(health) ? [health] : serverFindings(health)), await transactions(db));
    const schema = await schemaFinding(url, settings);
    findings.push(schema);
    if (schema.state === 'broken') return findings;
    findings.push(...vacuumFindings(await readQueueTables(db)), ...clockFinding(await readClockAhead(db)));
    if (!isFinding(health)) findings.push(...poolFinding(server, health, (await readWorkers(db)).length, database.maxConnections));
    findings.push(await workers(db, settings), ...(await queues(db, settings)));
    return findings;
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    const [found, advice] = new DatabaseUnreachableError(url, error).message.split(/(?<=\.) (?=[A-Z])/);
    return [{ check: 'database', state: 'broken', found: found ?? '', advice, unreachable: true }];
  } finally {
    await db.close();
    await embedded?.stop();
  }
}

// Some services that speak PostgreSQL's protocol do not have all of its functions. The other checks still count.
function unreadable(error: unknown): Finding {
  if (!isDatabaseError(error)) throw error;
  const advice = 'Look for its settings, replicas and backups where the server is managed (docs/operations.md).';
  return { check: 'server', state: 'warning', found: `this server does not say how it is operated: ${error.message}`, advice };
}

function isFinding(health: ServerHealth | Finding): health is Finding {
  return 'check' in health;
}

async function askServer(db: PoolRunner): Promise<[ServerFacts, number]> {
  // The first query also opens the connection; the second is timed.
  await probeServer(db);
  const before = Date.now();
  const server = await probeServer(db);
  return [server, server.now - (before + Date.now()) / 2];
}

function reachable(server: ServerFacts): Finding {
  if (server.readOnly) {
    return {
      check: 'database',
      state: 'broken',
      found: `PostgreSQL ${server.version} is a read-only replica`,
      advice: 'Set database.url to the primary, and database.readUrl to the replica.',
    };
  }
  return version(server);
}

function connections({ usedConnections, maxConnections }: ServerFacts, { database }: RhythmSettings): Finding {
  const check = 'connections';
  const found = `${usedConnections} of ${maxConnections} in use; each Rhythm process may open ${database.maxConnections}`;
  if (maxConnections - usedConnections >= database.maxConnections) return { check, state: 'ok', found };
  return {
    check,
    state: 'warning',
    found,
    advice: 'Another process might not get all its connections. Lower database.maxConnections, or raise max_connections on the server.',
  };
}

function clock(skew: number): Finding {
  const found = `the clocks of this machine and the database differ by ${span(Math.abs(skew))}`;
  if (Math.abs(skew) <= SKEW_MS) return { check: 'clock', state: 'ok', found };
  return {
    check: 'clock',
    state: 'warning',
    found,
    advice: 'Timers use the clock of the database and are right; ages in tables and --since are off. Synchronise the clocks (NTP).',
  };
}

async function pooler(connection: Parameters<typeof isTransactionPooler>[0], { database }: RhythmSettings): Promise<Finding> {
  const check = 'pooler';
  const found = await isTransactionPooler(connection);
  if (found && !database.pooled) {
    return {
      check,
      state: 'broken',
      found: 'database.url leads to a transaction pooler, and database.pooled is off',
      advice:
        'Set database.pooled = true and database.listenUrl to the server itself: named statements and LISTEN do not work through the pooler.',
    };
  }
  if (found && !database.listenUrl) {
    return {
      check,
      state: 'warning',
      found: 'a transaction pooler, and no database.listenUrl',
      advice: 'Workers can only poll. Set database.listenUrl to the server itself for immediate wake-ups.',
    };
  }
  return { check, state: 'ok', found: found ? 'a transaction pooler, as configured' : 'no transaction pooler' };
}

async function transactions(db: PoolRunner): Promise<Finding> {
  const check = 'transactions';
  const [oldest, ...others] = await longTransactions(db, LONG_SECONDS);
  if (!oldest) return { check, state: 'ok', found: `none has been open for more than ${LONG}` };
  return {
    check,
    state: 'warning',
    found: `${count(others.length + 1, 'transaction')} open for more than ${LONG}; the oldest, pid ${oldest.pid} (${oldest.application || oldest.user}, ${oldest.state}), for ${span(oldest.ageMs)}`,
    advice: `It keeps vacuum from cleaning the queues, which slows claims. End it, or: select pg_terminate_backend(${oldest.pid})`,
  };
}

async function schemaFinding(url: string, { database }: RhythmSettings): Promise<Finding> {
  const check = 'schema';
  const source = createDataSource({
    url: database.listenUrl ?? url,
    schema: database.schema,
    applicationName: 'rhythm doctor',
    connectTimeoutMs: CONNECT_MS,
  });
  await source.initialize();
  try {
    const version = await schemaVersion(source);
    const found =
      version === 0 ? `there are no tables in schema "${database.schema}"` : `version ${version}, this package needs ${SCHEMA_VERSION}`;
    if (version < SCHEMA_VERSION) return { check, state: 'broken', found, advice: 'Run: npx rhythm migrate' };
    if (version > SCHEMA_VERSION)
      return { check, state: 'warning', found, advice: 'The database was migrated by a newer nestjs-rhythm: update this one.' };
    return { check, state: 'ok', found };
  } finally {
    await source.destroy();
  }
}

async function workers(db: PoolRunner, { worker }: RhythmSettings): Promise<Finding> {
  const check = 'workers';
  const all = await readWorkers(db);
  const silent = all.filter(({ silentMs }) => silentMs > silentAfter(worker));
  if (all.length === silent.length) {
    return {
      check,
      state: 'warning',
      found: silent.length > 0 ? `none is alive, ${silent.length} without a recent heartbeat` : 'none is running',
      advice: 'Nothing runs until you start one: npx rhythm worker dist/app.module.js',
    };
  }
  if (silent.length > 0) {
    return {
      check,
      state: 'warning',
      found: `${all.length - silent.length} alive, ${silent.length} without a recent heartbeat (${silent.map(({ workerId }) => workerId).join(', ')})`,
      advice: 'The others take over their work within worker.deadAfter.',
    };
  }
  return { check, state: 'ok', found: `${all.length} alive` };
}

async function queues(db: PoolRunner, { worker }: RhythmSettings): Promise<Finding[]> {
  const check = 'queues';
  const all = await readQueues(db, silentAfter(worker));
  const unserved = all.filter(({ waiting, workers: n }) => waiting > 0 && n === 0);
  const stuck = all.filter(({ workers: n, oldestMs, running }) => n > 0 && running === 0 && (oldestMs ?? 0) > STUCK_MS);
  const withoutTask: Finding[] = (await readUnserved(db)).map(({ queue, task, waiting }) => ({
    check,
    state: 'broken',
    found: `${count(waiting, 'execution')} ${waiting === 1 ? 'waits' : 'wait'} in "${queue}" for task "${task}", which no running worker has`,
    advice: 'Start a worker of an app that has this task, or correct the name and cancel these executions.',
  }));
  const findings: Finding[] = unserved.map(({ queue, waiting }) => ({
    check,
    state: 'broken',
    found: `${count(waiting, 'execution')} ${waiting === 1 ? 'waits' : 'wait'} in "${queue}", which no worker serves`,
    advice: `Run: npx rhythm worker dist/app.module.js --queues ${queue} (or add it to worker.queues)`,
  }));
  findings.push(...withoutTask);
  for (const { queue, waiting, oldestMs } of stuck) {
    findings.push({
      check,
      state: 'warning',
      found: `"${queue}" makes no progress: ${waiting} waiting, the oldest for ${span(oldestMs ?? 0)}, none running`,
      advice:
        'Check the logs of its workers. A worker that lacks a flow postpones the work and records why (rhythm list --status pending).',
    });
  }
  return findings.length > 0
    ? findings
    : [{ check, state: 'ok', found: all.length === 0 ? 'nothing is waiting' : 'every queue with work has a worker' }];
}
