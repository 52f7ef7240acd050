// The store of one process: its pool, its hints, and the connections that the engine opens for itself.

import type { DataSource, EntityManager } from 'typeorm';
import { type ConnectionOptions, POOL_TIMEOUT_FACTOR, REPLY_TIMEOUT_MS } from './connect/connection-options.js';
import { EngineConnection } from './connect/engine-connection.js';
import type { Intercept } from './connect/intercept.js';
import { joinTransaction } from './connect/join-transaction.js';
import { Link } from './connect/link.js';
import { Notifications } from './connect/notifications.js';
import { PoolRunner } from './connect/pool-runner.js';
import { CLOSE_TIMEOUT_MS } from './connect/sockets.js';
import type { Runner } from './connect/statement.js';
import { within } from './connect/within.js';
import { assertSchema, createDataSource, migrate } from './manage/migrate.js';

/** How a process reaches its database. */
export interface StoreOptions {
  url: string;
  /** Default `rhythm`. */
  schema?: string;
  /** The address is a transaction pooler: unnamed statements, and LISTEN only through `directUrl`. */
  pooled?: boolean;
  /** An address without the pooler, for LISTEN. */
  directUrl?: string;
  /** A replica for list and show. */
  readUrl?: string;
  /** Connections of the pool; the engine has a few more of its own. Default 5. */
  poolSize?: number;
  poolMin?: number;
  connectTimeoutMs?: number;
  /** Milliseconds without a reply after which a connection of the engine is given up. Default 60,000. */
  replyTimeoutMs?: number;
  idleTimeoutMs?: number;
  maxLifetimeMs?: number;
  applicationName?: string;
  /** Sees every statement and may make it fail before, after or instead of running it. For tests. */
  intercept?: Intercept;
}

/** The database as the rest of the product sees it. */
export class Store {
  readonly schema: string;
  readonly pooled: boolean;
  /** The pool: for services and everything that is not hot. */
  readonly db: PoolRunner;
  /** Where list and show read; the pool itself unless there is a replica. */
  readonly reader: PoolRunner;
  readonly hints: Notifications;
  /**
   * Single starts use a connection of their own, with a prepared statement: planning the insert costs more than running it
   * (pick-up on an idle worker 1.46 → 1.2 ms). Opened by the first start, with the timeouts and lifetime of the pool's connections.
   */
  readonly starts: Link;
  private readonly connection: ConnectionOptions;
  private source: DataSource | undefined;

  private constructor(private readonly options: StoreOptions) {
    this.schema = options.schema ?? 'rhythm';
    this.pooled = options.pooled ?? false;
    this.connection = {
      url: options.url,
      schema: this.schema,
      pooled: this.pooled,
      applicationName: options.applicationName,
      connectTimeoutMs: options.connectTimeoutMs,
      replyTimeoutMs: options.replyTimeoutMs,
      intercept: options.intercept,
    };
    const size = {
      max: options.poolSize ?? 5,
      min: options.poolMin,
      idleTimeoutMs: options.idleTimeoutMs,
      maxLifetimeMs: options.maxLifetimeMs,
    };
    this.db = new PoolRunner(this.connection, size);
    this.reader = options.readUrl ? new PoolRunner({ ...this.connection, url: options.readUrl }, size) : this.db;
    const poolReplyTimeoutMs = (options.replyTimeoutMs ?? REPLY_TIMEOUT_MS) * POOL_TIMEOUT_FACTOR;
    const age = { idleMs: size.idleTimeoutMs, lifetimeMs: size.maxLifetimeMs };
    this.starts = new Link((signal) => EngineConnection.open({ ...this.connection, replyTimeoutMs: poolReplyTimeoutMs }, signal), age);
    const direct = this.pooled ? options.directUrl : options.url;
    this.hints = new Notifications(this.db, direct ? { ...this.connection, url: direct, pooled: false } : undefined, this.schema);
  }

  /** Connects, and migrates or checks the schema. */
  static async open(options: StoreOptions & { autoMigrate?: boolean }): Promise<Store> {
    const store = new Store(options);
    const source = await store.dataSource();
    try {
      if (options.autoMigrate ?? true) await migrate(source);
      await assertSchema(source);
      // Its connections are needed elsewhere; `dataSource` opens it again when it is needed.
      await source.destroy();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** TypeORM over the same tables, for migrations and admin work. Opened when it is first needed. */
  async dataSource(): Promise<DataSource> {
    // Without the pooler if there is an address for that: admin work may take long.
    this.source ??= createDataSource({
      url: this.options.directUrl ?? this.options.url,
      schema: this.schema,
      applicationName: this.options.applicationName,
      connectTimeoutMs: this.options.connectTimeoutMs,
    });
    if (!this.source.isInitialized) await this.source.initialize();
    return this.source;
  }

  /**
   * A connection that one loop of the engine keeps for itself, opened again whenever it is lost. A loop that must notice a
   * silent server sooner than the others sets `replyTimeoutMs`.
   */
  link(own: Pick<ConnectionOptions, 'replyTimeoutMs' | 'asyncCommit' | 'lockTimeoutMs'> = {}): Link {
    return new Link((signal) => EngineConnection.open({ ...this.connection, ...own }, signal));
  }

  /** The caller's own transaction as a runner. */
  join(manager: EntityManager): Promise<Runner> {
    return joinTransaction(manager, this.schema, this.options.intercept);
  }

  /** Closes every connection. It takes seconds at most, even if the server does not respond. */
  async close(): Promise<void> {
    await this.hints.stop();
    await Promise.all([
      this.starts.close(),
      this.db.close(),
      this.reader === this.db ? undefined : this.reader.close(),
      this.source?.isInitialized ? within(this.source.destroy(), CLOSE_TIMEOUT_MS) : undefined,
    ]);
  }
}
