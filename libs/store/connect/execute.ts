// Sends a statement without a name: on connections that are shared, where a prepared statement would not be found again.

import type pg from 'pg';
import { type Statement, textFor } from './statement.js';

export async function execute<Row>(
  client: pg.Pool | pg.ClientBase,
  schema: string,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query(textFor(statement, schema), values as unknown[]);
  return result.rows as Row[];
}
