// The checks of `rhythm doctor` of how the server is operated; docs/operations.md says more about each.

import type { QueueTable, ServerFacts, ServerHealth } from '../../libs/store/index.js';
import type { Finding } from './doctor-checks.js';
import { count, span } from './format.js';

const OLDEST = 140_000;
const NEWEST_TESTED = 18;
// A replica that is this far behind would lose that much in a failover, or serve lists that old.
const LATE_MS = 30_000;
const LATE_BYTES = 256 * 2 ** 20;
const KEPT_BYTES = 2 ** 30;
// Recoveries of many claims and the moving of many timers may take seconds.
const SHORTEST_STATEMENT_MS = 10_000;
// At 2 ** 31 the server stops taking writes.
const OLD_XID = 1_000_000_000;
const LAST_XID = 1_800_000_000;
const DEAD_ROWS = 100_000;

/** Everything that can be said without Rhythm's schema. */
export function serverFindings(health: ServerHealth): Finding[] {
  return [durability(health), archive(health), ...replication(health), sessions(health), transactionIds(health)];
}

/** Whether this version of PostgreSQL is one that Rhythm is tested on. */
export function version({ version: text, versionNumber }: ServerFacts): Finding {
  const check = 'database';
  const major = Math.floor(versionNumber / 10_000);
  if (versionNumber < OLDEST) {
    return { check, state: 'broken', found: `PostgreSQL ${text} is too old`, advice: 'Rhythm needs PostgreSQL 14 or newer.' };
  }
  if (major > NEWEST_TESTED) {
    return {
      check,
      state: 'warning',
      found: `PostgreSQL ${text} is newer than what this release was tested on (14 to ${NEWEST_TESTED})`,
      advice: 'It will probably work. Look for a newer release of nestjs-rhythm.',
    };
  }
  return { check, state: 'ok', found: `PostgreSQL ${text}` };
}

function durability({ fsync, fullPageWrites, synchronousCommit }: ServerHealth): Finding {
  const check = 'durability';
  const off = [...(fsync ? [] : ['fsync']), ...(fullPageWrites ? [] : ['full_page_writes'])];
  if (off.length > 0) {
    return {
      check,
      state: 'warning',
      found: `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: a crash of the machine may destroy the database`,
      advice: 'Turn it on, except for tests: nothing that Rhythm promises survives a damaged database.',
    };
  }
  if (synchronousCommit === 'off') {
    return {
      check,
      state: 'warning',
      found: 'synchronous_commit is off: a crash of the server may lose the last fraction of a second of what was committed',
      advice:
        'Set it to on (or local) for this role and database. Tasks that had ended run again, and a start that had returned may be gone.',
    };
  }
  return { check, state: 'ok', found: `every commit reaches the disk (synchronous_commit ${synchronousCommit})` };
}

function archive({ archiveMode, walLevel, archiveFailures, lastArchivedMs }: ServerHealth): Finding {
  const check = 'backup';
  if (archiveFailures > 0) {
    return {
      check,
      state: 'broken',
      found: `the WAL archive fails: ${count(archiveFailures, 'attempt')} so far, the last success ${lastArchivedMs === null ? 'never' : `${span(lastArchivedMs)} ago`}`,
      advice: 'Read the server log and mend archive_command. Until then nothing newer can be restored, and WAL fills the disk.',
    };
  }
  if (archiveMode === 'off') {
    return {
      check,
      state: 'ok',
      found: `archive_mode is off (wal_level ${walLevel}): there are only the backups that you take, and no restore to a point in time from an archive`,
    };
  }
  return {
    check,
    state: 'ok',
    found: `WAL is archived, the last segment ${lastArchivedMs === null ? 'never' : `${span(lastArchivedMs)} ago`}`,
  };
}

function replication({ replicas, slots }: ServerHealth): Finding[] {
  const check = 'replication';
  const findings: Finding[] = [];
  for (const { name, lagMs, lagBytes } of replicas) {
    if ((lagMs ?? 0) <= LATE_MS && (lagBytes ?? 0) <= LATE_BYTES) continue;
    findings.push({
      check,
      state: 'warning',
      found: `replica ${name} is behind by ${lagMs === null ? '' : `${span(lagMs)}, `}${megabytes(lagBytes ?? 0)}`,
      advice:
        'A failover to it would lose that much. It needs its own processor and disk; see also hot_standby_feedback and long queries on it.',
    });
  }
  for (const { name, active, keptBytes, walStatus } of slots) {
    if (walStatus === 'lost') {
      findings.push({
        check,
        state: 'broken',
        found: `replication slot ${name} has lost WAL that its replica needs`,
        advice: `Build that replica again, then: select pg_drop_replication_slot('${name}')`,
      });
    } else if (!active && (keptBytes ?? 0) > KEPT_BYTES) {
      findings.push({
        check,
        state: 'warning',
        found: `replication slot ${name} is not in use and keeps ${megabytes(keptBytes ?? 0)} of WAL`,
        advice: `It fills the disk. Start its replica, or: select pg_drop_replication_slot('${name}')`,
      });
    }
  }
  if (findings.length > 0) return findings;
  const found = replicas.length === 0 ? 'no replica is connected' : `${count(replicas.length, 'replica')} connected, none far behind`;
  return [{ check, state: 'ok', found }];
}

function sessions({ statementTimeout, isolation, readOnlyByDefault, lockTimeout }: ServerHealth): Finding {
  const check = 'sessions';
  if (readOnlyByDefault) {
    return {
      check,
      state: 'broken',
      found: 'default_transaction_read_only is on for this role or database: nothing can be written',
      advice: 'Run: alter role … set default_transaction_read_only = off (or alter database …)',
    };
  }
  if (isolation !== 'read committed') {
    return {
      check,
      state: 'warning',
      found: `default_transaction_isolation is "${isolation}"`,
      advice: 'Workers that compete for the queue would fail and repeat their statements. Set it to "read committed" for this role.',
    };
  }
  if (statementTimeout > 0 && statementTimeout < SHORTEST_STATEMENT_MS) {
    return {
      check,
      state: 'warning',
      found: `statement_timeout is ${span(statementTimeout)}`,
      advice: `Commits of many executions and the takeover from a dead worker may take longer. Give this role at least ${span(SHORTEST_STATEMENT_MS)}.`,
    };
  }
  const limits = [
    ...(statementTimeout > 0 ? [`statement_timeout ${span(statementTimeout)}`] : []),
    ...(lockTimeout > 0 ? [`lock_timeout ${span(lockTimeout)}`] : []),
  ];
  return { check, state: 'ok', found: limits.length === 0 ? 'no limits that cancel statements' : limits.join(', ') };
}

function transactionIds({ xidAge, mxidAge, freezeMaxAge, autovacuum }: ServerHealth): Finding {
  const check = 'transaction ids';
  const age = Math.max(xidAge, mxidAge);
  const found = `the oldest is ${age.toLocaleString('en-US')} transactions old (vacuum is forced at ${freezeMaxAge.toLocaleString('en-US')})`;
  if (age > LAST_XID)
    return { check, state: 'broken', found, advice: 'The server will soon refuse all writes. Run now, as superuser: vacuum (freeze)' };
  if (!autovacuum)
    return {
      check,
      state: 'broken',
      found: 'autovacuum is off',
      advice: 'Turn it on: dead rows and old transaction ids are not cleaned without it.',
    };
  if (age > OLD_XID || age > 3 * freezeMaxAge) {
    return {
      check,
      state: 'warning',
      found,
      advice: 'Vacuum does not keep up. Look for long transactions, prepared transactions and unused replication slots that hold it back.',
    };
  }
  return { check, state: 'ok', found };
}

/** What vacuum has left in the queue tables. */
export function vacuumFindings(tables: readonly QueueTable[]): Finding[] {
  const check = 'vacuum';
  const findings = tables.flatMap(({ table, autovacuum, dead, live, bytes }): Finding[] => {
    if (!autovacuum) {
      return [
        {
          check,
          state: 'warning',
          found: `autovacuum is off for ${table}`,
          advice: `Run: alter table ${table} reset (autovacuum_enabled), in the schema of Rhythm`,
        },
      ];
    }
    if (dead < DEAD_ROWS || dead < 2 * live) return [];
    return [
      {
        check,
        state: 'warning',
        found: `${table} has ${dead.toLocaleString('en-US')} dead rows beside ${live.toLocaleString('en-US')} live ones, ${megabytes(bytes)}`,
        advice: 'Claims get slower. Look for long transactions (above), then: vacuum the table.',
      },
    ];
  });
  if (findings.length > 0) return findings;
  if (tables.some(({ owned }) => !owned)) {
    return [
      {
        check,
        state: 'warning',
        found: 'this role does not own the tables, so workers cannot vacuum the queues themselves',
        advice: 'Autovacuum does it less often. Grant the owning role to this one, or lower autovacuum_naptime to a few seconds.',
      },
    ];
  }
  return [{ check, state: 'ok', found: 'the queue tables are clean' }];
}

/** `rhythm.clock()` is the server's own time. */
export function clockFinding(aheadMs: number): Finding[] {
  if (Math.abs(aheadMs) < 1) return [];
  return [
    {
      check: 'clock',
      state: 'broken',
      found: `rhythm.clock() is ${span(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the server's clock`,
      advice: 'Somebody has replaced the function, as tests do: timers fire at wrong times. Restore it from the initial migration.',
    },
  ];
}

/** Whether all processes of Rhythm that are running can open all their connections. */
export function poolFinding(
  { maxConnections }: ServerFacts,
  { reservedConnections }: ServerHealth,
  workers: number,
  each: number,
): Finding[] {
  const free = maxConnections - reservedConnections;
  if (workers * each <= free) return [];
  return [
    {
      check: 'connections',
      state: 'warning',
      found: `${count(workers, 'worker')} may open ${each} connections each, and the server has ${free} for ordinary roles`,
      advice:
        'Under load some would get none. Lower database.maxConnections, raise max_connections, or put PgBouncer in between (docs/scaling.md).',
    },
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`;
}
