// Hints between processes: received by every listener, coalesced, and received again after the connection was lost.

import { afterEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase, waitFor } from '../../../test/support/index.js';
import { Store } from '../store.js';
import { ANY } from './notifications.js';
import { sql } from './statement.js';

describe('notifications', () => {
  const database = useTestDatabase();
  const stores: Store[] = [];
  const open = async (schema = database.schema) => {
    const store = await Store.open({ url: database.url, schema });
    await store.hints.start();
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  it('reach the listeners of other processes, many subjects at once', async () => {
    const [a, b] = [await open(), await open()];
    const received = new Set<string>();
    b.hints.on('work', (queue) => received.add(queue));
    for (let n = 0; n < 50; n++) a.hints.hint('work', `q${n}`);
    await waitFor('all to arrive', () => received.size >= 50);
    for (let n = 0; n < 3_000; n++) a.hints.hint('work', `a queue with a rather long name ${n}`);
    await waitFor('"too many to name"', () => received.has(ANY));
  });

  it('reach them when the schema has a long name, and name ids with newlines whole', async () => {
    const schema = 'a_schema_with_a_name_as_long_as_postgresql_lets_a_name_be_at_all';
    const [a, b, other] = [await open(schema), await open(schema), await open(`${schema.slice(0, -1)}_`)];
    const received: string[] = [];
    b.hints.on('lost', (id) => received.push(id));
    other.hints.on('lost', (id) => received.push(`elsewhere: ${id}`));
    for (const id of ['one\ntwo', '100%0A', 'last']) a.hints.hint('lost', id);
    await waitFor('the hints', () => received.includes('last'));
    expect(received).toEqual(['one\ntwo', '100%0A', 'last']);
  });

  it('of ends are received only by processes that wait for one', async () => {
    const [, b] = [await open(), await open()];
    const received: string[] = [];
    b.hints.on('ended', (id) => received.push(id));
    await waitFor('the first call', () => received.includes(ANY));
    const ended = await b.db.rows(
      sql('spec', `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN "rhythm_ended_%'`),
    );
    expect(ended).toHaveLength(1);
  });

  it('of ends are sent only while a process waits, and those kept back are made up for', async () => {
    const [a, b] = [await open(), await open()];
    const received: string[] = [];
    b.hints.on('work', (queue) => received.push(queue));
    b.hints.on('ended', (id) => received.push(id));
    await waitFor('the first call', () => received.includes(ANY));
    // Both are sent together: a listener that receives the one would have received the other.
    let n = 0;
    await waitFor('an end to be kept back', async () => {
      const [end, mark] = [`end ${++n}`, `mark ${n}`];
      a.hints.hint('ended', end);
      a.hints.hint('work', mark);
      await waitFor('the mark', () => received.includes(mark));
      return !received.splice(0).includes(end);
    });
    b.hints.awaitEnds();
    await waitFor('the hint about what was kept back', () => received.includes(ANY));
    a.hints.hint('ended', 'x');
    await waitFor('the hint', () => received.includes('x'));
  });

  it('of ends come from a process that begins to listen while another waits', async () => {
    const b = await open();
    const received: string[] = [];
    b.hints.on('ended', (id) => received.push(id));
    b.hints.awaitEnds();
    const a = await open();
    // It asks when it begins, and keeps announcing ends for longer than the time in which it does so unasked.
    const later = performance.now() + 1_500;
    for (let n = 0; performance.now() < later; n++) {
      a.hints.hint('ended', `end ${n}`);
      await waitFor('the hint', () => received.includes(`end ${n}`));
    }
  });

  it('are received again after the connection was cut, and every listener is called once', async () => {
    const [a, b] = [await open(), await open()];
    await b.hints.start();
    const received: string[] = [];
    b.hints.on('ended', (id) => received.push(id));
    await waitFor('the first call', () => received.splice(0).includes(ANY));
    const listening = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
    expect(await a.db.rows(sql('spec', listening))).toHaveLength(2);
    await a.db.rows(sql('spec', `SELECT pg_terminate_backend(pid) FROM (${listening}) l`));
    await waitFor('the call after the outage', () => received.includes(ANY));
    await waitFor('both to listen again', () => a.hints.listening && b.hints.listening);
    b.hints.awaitEnds();
    a.hints.hint('ended', 'x');
    await waitFor('the hint', () => received.includes('x'));
  });
});
