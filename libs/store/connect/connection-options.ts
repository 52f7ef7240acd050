// How a connection to PostgreSQL is configured: what every kind of connection has in common.

import pg from 'pg';
import type { Intercept } from './intercept.js';

/** How to reach the database. */
export interface ConnectionOptions {
  url: string;
  schema: string;
  /** Behind a transaction pooler: unnamed statements, no session settings, no LISTEN. */
  pooled?: boolean;
  applicationName?: string;
  /** Milliseconds to wait for a connection before giving up. */
  connectTimeoutMs?: number;
  /** Milliseconds without a reply after which a connection of the engine is given up; a connection of the pool gets five times as long. Default 60,000. */
  replyTimeoutMs?: number;
  /**
   * What is committed on this connection may be lost if the server itself crashes in the same moment. For claims, whose loss
   * is harmless: the queue row is there again, and the fence lets one of two workers finish.
   */
  asyncCommit?: boolean;
  /** Milliseconds after which a statement gives up waiting for a lock. Default: it waits. */
  lockTimeoutMs?: number;
  /** Sees every statement of this connection, for tests. */
  intercept?: Intercept;
}

export const REPLY_TIMEOUT_MS = 60_000;
/** Queries that people run (a count over years of runs) may take this many times longer than those of the engine. */
export const POOL_TIMEOUT_FACTOR = 5;

const INT8 = 20;
const INT8_ARRAY = 1016;

// Fences have 53 bits and sequence numbers never reach as many: numbers are cheaper than strings, and `<` compares them by value.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    const parse = pg.types.getTypeParser(oid, format as 'text');
    return oid === INT8_ARRAY ? (text: string) => (parse(text) as unknown as string[]).map(Number) : parse;
  },
} as pg.CustomTypesConfig;

/** The part of the `pg` configuration that the pool and the engine's connections share. */
export function clientConfig(options: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'rhythm',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    types,
  };
}
