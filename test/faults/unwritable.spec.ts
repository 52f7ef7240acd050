// The database refuses values, and even the failure that reports them: no execution is left without a worker or a queue row.

import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';
import { watchLinks } from './watched-links.js';

describe('an end that cannot be written', () => {
  const kit = useHarness();

  const refusals = {
    'by the database': () => Object.assign(new DatabaseError('invalid byte sequence', 0, 'error'), { code: '22021' }),
    'before it is sent': () => new RangeError('The value of "value" is out of range.'),
  };
  const cases = ['task', 'flow'].flatMap((name) => Object.entries(refusals).map(([how, refusal]) => ({ name, how, refusal })));
  it.each(cases)('puts a $name off that is refused $how, and tries it again', async ({ name, refusal }) => {
    kit.expectProblems();
    const harness = await kit.open({ flows: { flow: `return 'done';` }, tasks: { task: () => 'done' } });
    let broken = true;
    let id = '';
    const store = watchLinks(harness.store, async (statement, values, send) => {
      const concerned = values.some((column) => String(column).includes(id));
      if (broken && concerned && statement.name.startsWith('rhythm_commit')) throw refusal();
      return send();
    });
    id = await harness.start(name);
    await harness.engine({}, store);
    await waitFor('it to be put off', () => harness.count('scheduled_queue', `kind = 'run' AND due_at > now()`));
    await waitFor('its claim to end', async () => (await harness.count('claims')) === 0);
    broken = false;
    await harness.query('UPDATE rhythm.scheduled_queue SET due_at = now()');
    harness.store.hints.hint('timer', '*');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'done' });
  });
});
