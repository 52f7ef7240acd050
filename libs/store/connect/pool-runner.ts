// The pool, for services and admin reads: ordinary plans, any number of callers.

import pg from 'pg';
import { PoolBusyError } from '../errors.js';
import { rethrowMarked } from './connection-errors.js';
import { type ConnectionOptions, clientConfig, POOL_TIMEOUT_FACTOR, REPLY_TIMEOUT_MS } from './connection-options.js';
import { isDatabaseError } from './database-errors.js';
import { execute } from './execute.js';
import { intercepted } from './intercept.js';
import { CLOSE_TIMEOUT_MS, Sockets } from './sockets.js';
import { type Runner, type Statement, sql } from './statement.js';
import { within } from './within.js';

const BEGIN = sql('begin', 'BEGIN');
const END = sql('end', 'COMMIT');
/** The message of pg-pool. */
const NO_CONNECTION = 'timeout exceeded when trying to connect';

/** Runs each statement on any free connection of a pool. */
export class PoolRunner implements Runner {
  private readonly pool: pg.Pool;
  private readonly sockets = new Sockets();
  /** Connections that are open, in use or not. */
  private connected = 0;

  constructor(
    private readonly options: ConnectionOptions,
    size: { max: number; min?: number; idleTimeoutMs?: number; maxLifetimeMs?: number },
  ) {
    this.pool = new pg.Pool({
      ...clientConfig(options),
      stream: this.sockets.make,
      query_timeout: (options.replyTimeoutMs ?? REPLY_TIMEOUT_MS) * POOL_TIMEOUT_FACTOR,
      max: size.max,
      min: size.min ?? 0,
      idleTimeoutMillis: size.idleTimeoutMs ?? 60_000,
      maxLifetimeSeconds: size.maxLifetimeMs ? Math.ceil(size.maxLifetimeMs / 1000) : 0,
    });
    // The pool replaces an idle connection that breaks; without a listener the event would end the host process.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => {
      this.connected++;
      client.on('error', () => undefined);
    });
    this.pool.on('remove', () => this.connected--);
  }

  async rows<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return this.send<Row>(this.pool, statement, values).catch((error) => this.explain(error));
  }

  /** Runs several statements in one transaction. */
  async transaction<T>(work: (db: Runner) => Promise<T>): Promise<T> {
    const client = await this.pool.connect().catch((error) => this.explain(error));
    const db: Runner = { rows: (statement, values = []) => this.send(client, statement, values) };
    let failed: unknown;
    try {
      await db.rows(BEGIN);
      const result = await work(db);
      await db.rows(END);
      return result;
    } catch (error) {
      failed = error;
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      // A connection that failed in an unknown state is closed, not handed to the next caller.
      client.release(failed !== undefined && !isDatabaseError(failed));
    }
  }

  /** Closes every connection after the statements in flight. Those that a silent server does not complete in time are rejected. */
  async close(): Promise<void> {
    await Promise.all([within(this.pool.end(), CLOSE_TIMEOUT_MS), this.sockets.close(CLOSE_TIMEOUT_MS)]);
  }

  // The pool gives the same error when nothing can be reached and when all its connections are in use.
  private explain(error: unknown): never {
    const { max, connectionTimeoutMillis } = this.pool.options;
    if (this.connected < max || (error as Error)?.message !== NO_CONNECTION) return rethrowMarked(error);
    throw new PoolBusyError(max, connectionTimeoutMillis ?? 0, { cause: error });
  }

  private send<Row>(client: pg.Pool | pg.ClientBase, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { schema, intercept } = this.options;
    return intercepted(intercept, statement, () => execute<Row>(client, schema, statement, values)).catch(rethrowMarked);
  }
}
