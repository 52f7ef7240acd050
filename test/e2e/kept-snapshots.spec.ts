// The states that a run has kept of its last turns, as users look back at them.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

@Injectable()
class Tasks {
  @Task('price')
  price({ item }: { item: string }) {
    return item.length * 10;
  }
}

const SOURCE = `let total = 0;
for (const item of Inputs.items) {
  const price = await Task.run('price', { item });
  total += price;
}
await Signal.when('pay', { timeout: '1h' });
return total;`;

describe('the kept states of a run', () => {
  const database = useTestDatabase();
  let app: TestApp;
  let id: string;
  beforeAll(async () => {
    app = await startApp(database, { flows: [{ name: 'order', source: SOURCE }], history: { snapshots: 2 } }, { providers: [Tasks] });
    id = (await app.executions.start('order', { items: ['pen', 'paper', 'ink'] })).id;
    await eventually(async () => expect((await app.executions.inspect(id)).branches[0]?.waitsFor).toContain('pay'));
  });

  it('are listed with what each waited for', async () => {
    const [last, before, ...more] = await app.executions.snapshots(id);
    expect(more).toEqual([]);
    expect(before).toMatchObject({
      turn: 3,
      storedAt: expect.any(Date),
      pending: [{ call: 3, kind: 'task', name: 'price', input: { item: 'ink' } }],
    });
    expect(last).toMatchObject({ turn: 4, pending: [{ call: 4, kind: 'wait', name: 'pay', dueAt: expect.any(Number) }] });
    expect(await app.executions.snapshots(id, { limit: 1 })).toEqual([last]);
  });

  it('are inspected like the present one, even after the run has ended', async () => {
    const then = () => app.executions.inspect(id, { turn: 3 });
    const seen = await then();
    expect(seen).toMatchObject({ turn: 3, status: 'suspended', signals: [], events: [] });
    expect(seen.branches[0].stack[0]).toMatchObject({ line: 3, locals: { total: 80 } });
    expect(seen.text).toContain('after turn 3');
    expect((await app.executions.inspect(id, { turn: 4 })).timers).toEqual([{ kind: 'timeout', call: 4, dueAt: expect.any(String) }]);
    expect((await app.executions.inspect(id)).turn).toBeNull();
    await app.signals.send(id, 'pay');
    expect(await app.executions.result(id, { timeout: '10s' })).toBe(110);
    expect(await then()).toEqual(seen);
  });

  it('that are gone, or of no run, are refused with what there is', async () => {
    const refused = app.executions.inspect(id, { turn: 1 });
    await expect(refused).rejects.toMatchObject({ code: 'RHYTHM_SNAPSHOT_NOT_KEPT', executionId: id, turn: 1 });
    await expect(refused).rejects.toThrow('the states after the turns 3, 4 are kept');
    await expect(app.executions.inspect(id, { turn: 0 })).rejects.toMatchObject({ code: 'RHYTHM_OPTION_INVALID' });
    await expect(app.executions.snapshots('nobody')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    await expect(app.executions.snapshots(id, { limit: 0 })).rejects.toMatchObject({ code: 'RHYTHM_OPTION_INVALID' });
  });
});
