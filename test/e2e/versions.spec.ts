// Versions of a workflow: pinned at start, side by side, activated, and a run moved from one to another by hand.

import { describe, expect, it } from '@jest/globals';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

const V1 = { name: 'order', source: 'const paid = await Signal.when("paid")\nreturn "v1 " + paid' };
const V2 = {
  name: 'order',
  source: 'const already = Inputs?.paid\nconst paid = already ?? (await Signal.when("paid"))\nreturn "v2 " + paid',
};

describe('versions of a workflow', () => {
  const database = useTestDatabase();

  it('are pinned at start, exist side by side, and roll back only by activate', async () => {
    const before = await startApp(database, { flows: [V1] });
    const old = await before.executions.start('order', undefined, { id: 'old' });
    await eventually(async () => expect((await before.executions.get('old')).status).toBe('suspended'));

    const after = await startApp(database, { flows: [V2] });
    const young = await after.executions.start('order', undefined, { id: 'young' });
    const [current, former] = await after.definitions.versions('order');
    expect([current?.source, former?.source]).toEqual([V2.source, V1.source]);

    // The old pod still starts its own version; a process without the flow starts the current one.
    const late = await before.executions.start('order', undefined, { id: 'late' });
    const api = await startApp(database, { role: 'api' });
    const bare = await api.executions.start('order', undefined, { id: 'bare' });
    for (const { id } of [old, young, late, bare]) await after.signals.send(id, 'paid', id);
    expect(await after.executions.result('old', { timeout: '10s' })).toBe('v1 old');
    expect(await after.executions.result('young', { timeout: '10s' })).toBe('v2 young');
    expect(await after.executions.result('late', { timeout: '10s' })).toBe('v1 late');
    expect(await after.executions.result('bare', { timeout: '10s' })).toBe('v2 bare');

    // An old pod that restarts changes nothing; activate does.
    await before.close();
    const again = await startApp(database, { flows: [V1] });
    expect((await again.definitions.current('order')).source).toBe(V2.source);
    await api.definitions.activate('order', former!.version.slice(0, 12));
    expect((await api.definitions.current('order')).source).toBe(V1.source);
    const rolledBack = await api.executions.start('order', undefined, { id: 'rolled-back' });
    await api.signals.send(rolledBack.id, 'paid', 'x');
    expect(await api.executions.result(rolledBack.id, { timeout: '10s' })).toBe('v1 x');
    await expect(api.definitions.activate('order', 'nonsense')).rejects.toMatchObject({ code: 'RHYTHM_UNKNOWN_VERSION' });
    await expect(api.definitions.activate('ordr', 'nonsense')).rejects.toThrow(/Did you mean "order"/);
    for (const app of [after, again, api]) await app.close();
  });

  it('let a run be moved to a new one by hand: pause, inspect, start with mapped inputs, cancel', async () => {
    const app = await startApp(database, { flows: [{ ...V1, name: 'move' }] });
    const { id } = await app.executions.start('move', undefined, { id: 'stuck' });
    await eventually(async () => expect((await app.executions.get(id)).status).toBe('suspended'));
    const deployed = await startApp(database, { flows: [{ ...V2, name: 'move' }] });

    await deployed.executions.pause(id);
    const { branches } = await deployed.executions.inspect(id);
    expect(branches[0]?.waitsFor).toMatch(/signal "paid"/);
    const target = await deployed.definitions.current('move');
    const moved = await deployed.executions.start('move', { paid: 'by hand' }, { id: `${id}-v2`, version: target.version });
    await deployed.executions.cancel(id, { reason: `moved to ${moved.id}` });

    expect(await deployed.executions.result(moved.id, { timeout: '10s' })).toBe('v2 by hand');
    await expect(deployed.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    await app.close();
    await deployed.close();
  });
});
