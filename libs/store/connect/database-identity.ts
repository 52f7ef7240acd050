// Tells whether two connections are on one database of one server.

import { type Runner, sql } from './statement.js';

// Not the start as a timestamp: its text depends on the time zone of the session.
const IDENTITY = sql(
  'database_identity',
  `SELECT current_database() AS name, extract(epoch FROM pg_postmaster_start_time())::text AS server`,
);

/** Connections that agree on both are on the same database. */
export interface DatabaseIdentity {
  name: string;
  server: string;
}

/** Which database a connection is on. */
export async function readIdentity(db: Runner): Promise<DatabaseIdentity> {
  const [identity] = await db.rows<DatabaseIdentity>(IDENTITY);
  return identity;
}

/** Whether both are on one database of one server. */
export function isSameDatabase(a: DatabaseIdentity, b: DatabaseIdentity): boolean {
  return a.name === b.name && a.server === b.server;
}
