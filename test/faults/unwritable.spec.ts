// Values that the database refuses, even those of the failure that says so: nothing is left in nobody's hands.

import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import type { Link, Runner, Statement, Store } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';

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
    const link = (): Link => {
      const real = harness.store.link();
      const rows: Runner['rows'] = async <Row>(statement: Statement, values: readonly unknown[] = []) => {
        const concerned = values.some((column) => String(column).includes(id));
        if (broken && concerned && statement.name.startsWith('rhythm_commit')) {
          throw refusal();
        }
        return real.rows<Row>(statement, values);
      };
      return { rows, close: () => real.close() } as unknown as Link;
    };
    const store: Store = new Proxy(harness.store, { get: (target, key) => (key === 'link' ? link : Reflect.get(target, key, target)) });
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
