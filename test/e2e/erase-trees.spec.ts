// Erasing reaches what a subject's runs called, also through runs that were removed before, and by tag it is all or nothing.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const FLOWS = [
  { name: 'first', source: `Workflow.run('second', Inputs, { id: Inputs + '-b', detached: true }); return 1` },
  { name: 'second', source: `await Workflow.run('third', Inputs, { id: Inputs + '-c' }); return 2` },
  { name: 'third', source: 'return Inputs' },
  { name: 'leaves', source: `Workflow.run('waits', 1, { id: Inputs, detached: true }); return 1` },
  { name: 'waits', source: `return await Signal.when('go')` },
];

describe('erasing', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS });
  });
  const ended = (id: string) => app.executions.result(id, { timeout: '20s' });
  const start = async (name: string, id: string, input: string, tags: string[] = []) => {
    await app.executions.start(name, input, { id, tags });
    await ended(id);
  };

  it('finds what a run called that was removed before', async () => {
    await start('first', 'a', 'ann');
    await ended('ann-b');
    await app.executions.remove('ann-b');
    expect((await app.executions.get('ann-c')).input).toBe('ann');
    await app.executions.erase('a');
    for (const id of ['a', 'ann-b', 'ann-c']) await expect(app.executions.get(id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    expect(await app.executions.start('third', 'new', { id: 'ann-b' })).toEqual({ id: 'ann-b', created: true });
  });

  it('by tag erases nothing while something that one of the runs called has not ended', async () => {
    await start('third', 'tagged-1', 'x', ['subject']);
    await start('leaves', 'tagged-2', 'living', ['subject']);
    await expect(app.executions.erase({ tag: 'subject' })).rejects.toMatchObject({ code: 'RHYTHM_STATE' });
    for (const id of ['tagged-1', 'tagged-2']) expect((await app.executions.get(id)).status).toBe('completed');
    await app.signals.send('living', 'go', 1);
    await ended('living');
    expect(await app.executions.erase({ tag: 'subject' })).toMatchObject({ executions: 3 });
  });
});
