// The caller's own TypeORM transaction as a runner: what is written through it exists if that transaction commits, and only then.

import type pg from 'pg';
import type { EntityManager } from 'typeorm';
import { itemsOf } from './array-bytes.js';
import { arrayText } from './array-text.js';
import { execute } from './execute.js';
import { type Intercept, intercepted } from './intercept.js';
import type { Runner } from './statement.js';

/** Runs statements in the transaction of the given manager. */
export async function joinTransaction(manager: EntityManager, schema: string, intercept?: Intercept): Promise<Runner> {
  const client = (await manager.queryRunner?.connect()) as pg.ClientBase | undefined;
  if (!client) {
    throw new TypeError(
      'The given manager is not inside a transaction. Pass the one that dataSource.transaction(async (manager) => …) hands you.',
    );
  }
  // TypeORM uses pg-native where it is installed, and pg-native takes parameters only as text.
  const native = 'native' in client;
  const sendable = (value: unknown) => (native && Buffer.isBuffer(value) ? arrayText(itemsOf(value)) : value);
  return {
    rows: (statement, values = []) => intercepted(intercept, statement, () => execute(client, schema, statement, values.map(sendable))),
  };
}
