// The statements whose cost must not grow with the tables, each as a call on the rows of `fillTables`.

import {
  getExecutions,
  insertExecutions,
  listExecutions,
  moveDue,
  newId,
  type Runner,
  readHistory,
  readOverdue,
  readQueues,
  readTree,
  readUnservedQueues,
  removeExecutions,
  versionsInUse,
} from '../../libs/store/index.js';
import { RARE } from '../support/many-rows.js';

const id = (g: number) => `x${String(g).padStart(9, '0')}`;
// Executions that completed; a tenth of those that are near are suspended.
const ended = (count: number) => Array.from({ length: count }, (_, n) => id(1_002 + n * 10));

/** Each with the pages that it may read, whatever the size of the tables. */
export const STATEMENTS: Record<string, { most: number; call(db: Runner): Promise<unknown> }> = {
  'get 3': { most: 60, call: (db) => getExecutions(db, [id(10), id(11), `${id(20)}:1`]) },
  tree: { most: 120, call: (db) => readTree(db, id(10)) },
  history: { most: 100, call: (db) => readHistory(db, id(10)) },
  'remove 1': { most: 400, call: (db) => removeExecutions(db, ended(1)) },
  'remove 200': { most: 25_000, call: (db) => removeExecutions(db, ended(200), { skipHeld: true }) },
  'list newest': { most: 300, call: (db) => listExecutions(db) },
  'list suspended': { most: 2_500, call: (db) => listExecutions(db, { status: 'suspended' }) },
  'list completed': { most: 500, call: (db) => listExecutions(db, { status: 'completed' }) },
  'list failed': { most: 15_000, call: (db) => listExecutions(db, { status: 'failed' }) },
  'list running': { most: 300, call: (db) => listExecutions(db, { status: 'running' }) },
  'list pending': { most: 25_000, call: (db) => listExecutions(db, { status: 'pending' }) },
  'list a rare workflow': { most: 300, call: (db) => listExecutions(db, { name: RARE }) },
  'list a common workflow': { most: 25_000, call: (db) => listExecutions(db, { name: 'order' }) },
  'list a name without rows': { most: 25_000, call: (db) => listExecutions(db, { name: 'nothing' }) },
  'list a rare tag': { most: 300, call: (db) => listExecutions(db, { tag: RARE }) },
  'list a common tag': { most: 600, call: (db) => listExecutions(db, { tag: 'common' }) },
  'list a queue without rows': { most: 25_000, call: (db) => listExecutions(db, { queue: 'nothing' }) },
  'status: queues': { most: 60_000, call: (db) => readQueues(db) },
  'queues without a worker': { most: 50, call: (db) => readUnservedQueues(db) },
  'status: versions in use': { most: 25_000, call: (db) => versionsInUse(db) },
  'timers: nothing due': { most: 60, call: (db) => moveDue(db, 1_000) },
  'time limits: nothing due': { most: 30, call: (db) => readOverdue(db, 500) },
  'start 1': {
    most: 200,
    call: (db) => insertExecutions(db, [{ id: newId(), fresh: true, type: 'task', targetName: 'mail', queue: 'q' }]),
  },
};
