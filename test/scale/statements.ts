// The statements whose cost must not grow with the tables, each as a call on the rows of `fillTables`.

import * as present from '../../libs/store/index.js';
import { ENDED, idOf as id, RARE } from '../support/many-rows.js';

/** Each with the pages that it may read, whatever the size of the tables; of this store or of that of another checkout. */
export const statementsOf = (store: typeof present): Record<string, { most: number; call(db: present.Runner): Promise<unknown> }> => ({
  'get 3': { most: 60, call: (db) => store.getExecutions(db, [id(10), id(11), `${id(20)}:1`]) },
  tree: { most: 120, call: (db) => store.readTree(db, id(10)) },
  history: { most: 100, call: (db) => store.readHistory(db, id(10)) },
  'remove 1': { most: 400, call: (db) => store.removeExecutions(db, ENDED.slice(0, 1).map(id)) },
  'remove 200': { most: 25_000, call: (db) => store.removeExecutions(db, ENDED.map(id), { skipHeld: true }) },
  'list newest': { most: 300, call: (db) => store.listExecutions(db) },
  'list suspended': { most: 2_500, call: (db) => store.listExecutions(db, { status: 'suspended' }) },
  'list completed': { most: 500, call: (db) => store.listExecutions(db, { status: 'completed' }) },
  'list failed': { most: 15_000, call: (db) => store.listExecutions(db, { status: 'failed' }) },
  'list running': { most: 300, call: (db) => store.listExecutions(db, { status: 'running' }) },
  'list pending': { most: 25_000, call: (db) => store.listExecutions(db, { status: 'pending' }) },
  'list a rare workflow': { most: 300, call: (db) => store.listExecutions(db, { name: RARE }) },
  'list a common workflow': { most: 25_000, call: (db) => store.listExecutions(db, { name: 'order' }) },
  'list a name without rows': { most: 25_000, call: (db) => store.listExecutions(db, { name: 'nothing' }) },
  'list a rare tag': { most: 300, call: (db) => store.listExecutions(db, { tag: RARE }) },
  'list a common tag': { most: 600, call: (db) => store.listExecutions(db, { tag: 'common' }) },
  'list a queue without rows': { most: 25_000, call: (db) => store.listExecutions(db, { queue: 'nothing' }) },
  'status: queues': { most: 60_000, call: (db) => store.readQueues(db, 15_000) },
  'queues without a worker': { most: 50, call: (db) => store.readUnservedQueues(db, 15_000) },
  'status: versions in use': { most: 25_000, call: (db) => store.versionsInUse(db) },
  'timers: nothing due': { most: 60, call: (db) => store.moveDue(db, 1_000) },
  'time limits: nothing due': { most: 30, call: (db) => store.readOverdue(db, 500) },
  'start 1': {
    most: 200,
    call: (db) => store.insertExecutions(db, [{ id: store.newId(), fresh: true, type: 'task', targetName: 'mail', queue: 'q' }]),
  },
});

export const STATEMENTS = statementsOf(present);
