// What `rhythm doctor` makes of how a server is operated, each check at its limits.

import { describe, expect, it } from '@jest/globals';
import type { QueueTable, ServerFacts, ServerHealth } from '../../libs/store/index.js';
import { clockFinding, poolFinding, serverFindings, vacuumFindings, version } from './server-checks.js';

const GOOD: ServerHealth = {
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: 'on',
  archiveMode: 'on',
  walLevel: 'replica',
  archiveFailures: 0,
  lastArchivedMs: 5_000,
  replicas: [{ name: 'b', state: 'streaming', lagMs: 20, lagBytes: 4_096 }],
  slots: [{ name: 's', active: true, keptBytes: 0, walStatus: 'reserved' }],
  statementTimeout: 0,
  lockTimeout: 0,
  isolation: 'read committed',
  readOnlyByDefault: false,
  reservedConnections: 3,
  autovacuum: true,
  xidAge: 1_000,
  mxidAge: 0,
  freezeMaxAge: 200_000_000,
};
const TABLE: QueueTable = { table: 'work_queue', live: 10, dead: 0, bytes: 8_192, autovacuum: true, owned: true };
const SERVER = { version: '18.4', versionNumber: 180_004, maxConnections: 100 } as ServerFacts;

describe('rhythm doctor of the server', () => {
  it('finds nothing wrong with a server that is operated well', () => {
    expect(serverFindings(GOOD).map(({ check, state }) => `${check}: ${state}`)).toEqual([
      'durability: ok',
      'backup: ok',
      'replication: ok',
      'sessions: ok',
      'transaction ids: ok',
    ]);
    expect([...vacuumFindings([TABLE]), ...clockFinding(0), ...poolFinding(SERVER, GOOD, 4, 20)]).toMatchObject([{ state: 'ok' }]);
  });

  it.each<[Partial<ServerHealth>, string, string, RegExp]>([
    [{ fsync: false, fullPageWrites: false }, 'durability', 'warning', /fsync and full_page_writes are off/],
    [{ synchronousCommit: 'off' }, 'durability', 'warning', /synchronous_commit is off/],
    [{ archiveFailures: 3, lastArchivedMs: null }, 'backup', 'broken', /WAL archive fails: 3 attempts so far, the last success never/],
    [{ archiveMode: 'off' }, 'backup', 'ok', /archive_mode is off \(wal_level replica\)/],
    [{ replicas: [] }, 'replication', 'ok', /no replica is connected/],
    [{ replicas: [{ name: 'b', state: null, lagMs: null, lagBytes: null }] }, 'replication', 'ok', /1 replica connected/],
    [
      { replicas: [{ name: 'b', state: 'streaming', lagMs: 60_000, lagBytes: 0 }] },
      'replication',
      'warning',
      /replica b is behind by 60s, 0 MB/,
    ],
    [{ replicas: [{ name: 'b', state: 'streaming', lagMs: null, lagBytes: 2 ** 30 }] }, 'replication', 'warning', /behind by 1,024 MB/],
    [
      { slots: [{ name: 's', active: false, keptBytes: 2 ** 31, walStatus: 'extended' }] },
      'replication',
      'warning',
      /slot s is not in use and keeps 2,048 MB/,
    ],
    [{ slots: [{ name: 's', active: false, keptBytes: null, walStatus: 'lost' }] }, 'replication', 'broken', /slot s has lost WAL/],
    [{ readOnlyByDefault: true }, 'sessions', 'broken', /default_transaction_read_only is on/],
    [{ isolation: 'serializable' }, 'sessions', 'warning', /default_transaction_isolation is "serializable"/],
    [{ statementTimeout: 2_000 }, 'sessions', 'warning', /statement_timeout is 2\.0s/],
    [{ statementTimeout: 60_000 }, 'sessions', 'ok', /statement_timeout 60s/],
    [{ xidAge: 1_900_000_000 }, 'transaction ids', 'broken', /1,900,000,000 transactions old/],
    [{ mxidAge: 1_200_000_000 }, 'transaction ids', 'warning', /1,200,000,000/],
    [{ autovacuum: false }, 'transaction ids', 'broken', /autovacuum is off/],
  ])('reports %j', (health, check, state, found) => {
    const findings = serverFindings({ ...GOOD, ...health });
    expect(findings.find((finding) => finding.check === check)).toMatchObject({ state, found: expect.stringMatching(found) });
    for (const finding of findings) if (finding.state !== 'ok') expect(finding.advice).toMatch(/\w/);
  });

  it.each<[Partial<QueueTable>, RegExp]>([
    [{ autovacuum: false }, /autovacuum is off for work_queue/],
    [{ dead: 300_000 }, /work_queue has 300,000 dead rows beside 10 live ones/],
    [{ owned: false }, /does not own the tables/],
  ])('reports a queue table that is %j', (table, found) => {
    expect(vacuumFindings([{ ...TABLE, ...table }])).toMatchObject([
      { check: 'vacuum', state: 'warning', found: expect.stringMatching(found) },
    ]);
  });

  it('reports a clock that was replaced, and more pools than the server has connections', () => {
    expect(clockFinding(-3_600_000)).toMatchObject([{ state: 'broken', found: expect.stringMatching(/60m behind the server's clock/) }]);
    expect(poolFinding(SERVER, GOOD, 5, 20)).toMatchObject([
      { state: 'warning', found: expect.stringMatching(/5 workers may open 20 .* has 97/) },
    ]);
  });

  it('knows the versions that Rhythm is tested on', () => {
    const of = (versionNumber: number) => version({ ...SERVER, versionNumber }).state;
    expect([130_012, 140_000, 180_004, 190_000].map(of)).toEqual(['broken', 'ok', 'ok', 'warning']);
  });
});
