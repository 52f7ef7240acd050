// What Rhythm does periodically in a process is listed in its SchedulerRegistry.

import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import pg from 'pg';
import { type LoopStatus, RhythmEvents, WorkerHost } from '../../src/index.js';
import { useTestDatabase, waitFor } from '../support/index.js';
import { startApp } from './start-app.js';

const ALL = ['rhythm:claim', 'rhythm:heartbeat', 'rhythm:queues', 'rhythm:retention', 'rhythm:timers', 'rhythm:vacuum'];

describe('the periodic work of a worker', () => {
  const database = useTestDatabase();

  it('is listed while it runs, with its interval and its passes', async () => {
    const { app, close } = await startApp(database, { worker: { pollInterval: '50ms', heartbeatInterval: '100ms' } });
    const { schedulerRegistry } = app.get(WorkerHost);
    expect(schedulerRegistry.getIntervals().sort()).toEqual(ALL);
    const claim = schedulerRegistry.getInterval('rhythm:claim') as LoopStatus;
    expect(claim).toMatchObject({ name: 'claim', everyMs: 50 });
    expect(schedulerRegistry.getInterval('rhythm:heartbeat')).toMatchObject({ everyMs: 100 });
    const before = claim.passes;
    await waitFor('further passes', () => claim.passes > before + 1);
    await close();
    expect(schedulerRegistry.getIntervals()).toEqual([]);
  });

  it('continues when its entry is removed, and is listed again by a worker that starts again', async () => {
    const { app, close } = await startApp(database, { worker: { heartbeatInterval: '50ms' } });
    const { schedulerRegistry } = app.get(WorkerHost);
    schedulerRegistry.deleteInterval('rhythm:heartbeat');
    const started: string[] = [];
    app.get(RhythmEvents).subscribe(['worker-started'], ({ workerId }) => started.push(workerId));
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`DELETE FROM "${database.schema}".worker_heartbeats`);
    await client.end();
    await waitFor('another worker', () => started.length > 0);
    expect(schedulerRegistry.getIntervals().sort()).toEqual(ALL);
    await close();
  });

  it('does not exist in an API-only process, and is not in the registry of the app', async () => {
    const { app, close } = await startApp(database, { role: 'api' });
    expect(app.get(WorkerHost).schedulerRegistry.getIntervals()).toEqual([]);
    await close();
    @Injectable()
    class Jobs {
      constructor(readonly registry: SchedulerRegistry) {}
    }
    const both = await startApp(database, {}, { imports: [ScheduleModule.forRoot()], providers: [Jobs] });
    const { registry } = both.app.get(Jobs);
    expect(registry.getIntervals()).toEqual([]);
    expect(both.app.get(WorkerHost).schedulerRegistry).not.toBe(registry);
    await both.close();
  });
});
