// Connections to PostgreSQL: the pool, the pinned connections of the engine, and the caller's own transaction as a runner.

import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { itemsOf } from './array-bytes.js';
import { arrayText } from './array-text.js';
import { GOODBYE_MS, Sockets } from './sockets.js';
import { type Runner, type Statement, textFor } from './statement.js';
import { within } from './within.js';

/** How to reach the database. */
export interface ConnectionOptions {
  url: string;
  schema: string;
  /** Behind a transaction pooler: unnamed statements, no session settings, no LISTEN. */
  pooled?: boolean;
  applicationName?: string;
  /** Milliseconds to wait for a connection before giving up. */
  connectTimeoutMs?: number;
  /** Milliseconds after which a connection of the engine that does not answer is given up, and a fifth of what one of the pool is given. Default 60,000. */
  answerTimeoutMs?: number;
  /**
   * What is committed on this connection may be lost if the server itself crashes in the same moment. For claims, whose loss
   * is harmless: the queue row is there again, and the fence lets one of two workers finish.
   */
  relaxed?: boolean;
  /** Milliseconds after which a statement gives up waiting for a lock. Default: it waits. */
  lockTimeoutMs?: number;
}

// The plans of the engine's statements are known to be right, and planning them again costs more than running them:
// database CPU per task 557 → 305 µs at batch 1 and 43 → 21 µs at 500. Generic plans without the other switches are far slower.
const PINNED_PLANS = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_bitmapscan=off',
  'enable_material=off',
  'jit=off',
];

const INT8 = 20;
const INT8_ARRAY = 1016;

// Fences have 53 bits and sequence numbers never reach as many; as numbers they are cheaper than strings and compare as one expects.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    const parse = pg.types.getTypeParser(oid, format as 'text');
    return oid === INT8_ARRAY ? (text: string) => (parse(text) as unknown as string[]).map(Number) : parse;
  },
} as pg.CustomTypesConfig;

export const ANSWER_TIMEOUT_MS = 60_000;
// People's own questions (a count over years of runs) may take longer than what the engine asks.
export const POOL_PATIENCE = 5;

function config(options: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'rhythm',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    types,
  };
}

/** One connection of the engine's own: pinned plans, named statements, queries of several callers pipelined. */
export class EngineConnection implements Runner {
  private readonly client: pg.Client;
  private readonly prepared = new Map<Statement, pg.QueryConfig>();
  private readonly sockets = new Sockets();
  /** Milliseconds after which a statement without an answer ends the connection. */
  readonly patienceMs: number;
  /** True once the connection is gone; whoever holds it opens another. */
  broken = false;

  private constructor(private readonly options: ConnectionOptions) {
    const session = [
      ...PINNED_PLANS,
      ...(options.relaxed ? ['synchronous_commit=off'] : []),
      ...(options.lockTimeoutMs ? [`lock_timeout=${options.lockTimeoutMs}`] : []),
    ];
    const pins = options.pooled ? {} : { options: session.map((pin) => `-c ${pin}`).join(' ') };
    // A server that vanished without a word (a failed host, a firewall that forgot us) never answers, and TCP alone notices
    // after a quarter of an hour. The connection is then dropped; what it was doing has an unknown outcome, as after any loss.
    this.patienceMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    const { make } = this.sockets;
    this.client = new pg.Client({
      ...config(options),
      ...pins,
      query_timeout: this.patienceMs,
      stream: make,
      pipeline: true,
    } as pg.ClientConfig);
    // A lost connection announces itself here; without a listener it would end the host process.
    this.client.on('error', () => {
      this.broken = true;
    });
    this.client.on('end', () => {
      this.broken = true;
    });
  }

  /** Connects; `signal` gives it up. */
  static async open(options: ConnectionOptions, signal?: AbortSignal): Promise<EngineConnection> {
    signal?.throwIfAborted();
    const connection = new EngineConnection(options);
    const giveUp = () => connection.sockets.destroy();
    signal?.addEventListener('abort', giveUp);
    try {
      await connection.client.connect();
      return connection;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  async rows<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    let query = this.prepared.get(statement);
    if (!query) {
      const text = textFor(statement, this.options.schema);
      query = this.options.pooled ? { text } : { name: statement.name, text };
      this.prepared.set(statement, query);
    }
    const result = await this.client.query({ ...query, values: values as unknown[] });
    return result.rows as Row[];
  }

  onNotification(listener: (channel: string, payload: string) => void): void {
    this.client.on('notification', (message) => listener(message.channel, message.payload ?? ''));
  }

  onEnd(listener: () => void): void {
    this.client.on('end', listener);
  }

  /** Ends it after what is still on its way. A server that says nothing is not waited for: then that is rejected. */
  async close(withinMs = GOODBYE_MS): Promise<void> {
    this.broken = true;
    const ended = this.client.end().catch(() => undefined);
    await this.sockets.close(withinMs);
    await ended;
  }
}

/** When a connection is too old to be trusted with another statement, in milliseconds. */
export interface LinkAge {
  /** Since its last use: something between us and the server may have forgotten it without a word. */
  idleMs?: number;
  /** Since it was opened. */
  lifetimeMs?: number;
}

/** A runner for one loop of the engine: one connection, opened when first needed and again when it was lost or has become too old. */
export class Link implements Runner {
  private connection: EngineConnection | undefined;
  private opening: Promise<EngineConnection> | undefined;
  private readonly closing = new AbortController();
  private openedAt = 0;
  private usedAt = 0;

  constructor(
    private readonly open: (signal: AbortSignal) => Promise<EngineConnection>,
    private readonly age: LinkAge = {},
  ) {}

  async rows<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    this.retire();
    const { connection } = this;
    this.usedAt = performance.now();
    if (connection && !connection.broken) return connection.rows<Row>(statement, values);
    return (await this.reconnect()).rows<Row>(statement, values);
  }

  // What is still on its way on the old connection is answered before it ends.
  private retire(): void {
    const { connection, age, openedAt, usedAt } = this;
    const now = performance.now();
    const isOld = (age.idleMs && now - usedAt > age.idleMs) || (age.lifetimeMs && now - openedAt > age.lifetimeMs);
    if (!connection || !isOld) return;
    this.connection = undefined;
    void connection.close(connection.patienceMs);
  }

  /** Ends it; what is on its way has this long to be answered. */
  async close(withinMs = GOODBYE_MS): Promise<void> {
    this.closing.abort(new Error('This connection was closed at shutdown.'));
    await this.opening?.catch(() => undefined);
    await this.connection?.close(withinMs);
  }

  private async reconnect(): Promise<EngineConnection> {
    this.closing.signal.throwIfAborted();
    this.opening ??= this.open(this.closing.signal).finally(() => {
      this.opening = undefined;
    });
    this.connection = await this.opening;
    this.openedAt = performance.now();
    return this.connection;
  }
}

/** The pool for services and admin reads: ordinary plans, any number of callers. */
export class PoolRunner implements Runner {
  private readonly pool: pg.Pool;
  private readonly sockets = new Sockets();

  constructor(
    private readonly options: ConnectionOptions,
    size: { max: number; min?: number; idleTimeoutMs?: number; maxLifetimeMs?: number },
  ) {
    this.pool = new pg.Pool({
      ...config(options),
      stream: this.sockets.make,
      query_timeout: (options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS) * POOL_PATIENCE,
      max: size.max,
      min: size.min ?? 0,
      idleTimeoutMillis: size.idleTimeoutMs ?? 60_000,
      maxLifetimeSeconds: size.maxLifetimeMs ? Math.ceil(size.maxLifetimeMs / 1000) : 0,
    });
    // An idle connection that breaks is replaced by the pool; the event only must not be unheard.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async rows<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return execute<Row>(this.pool, this.options.schema, statement, values);
  }

  /** Runs several statements in one transaction. */
  async transaction<T>(work: (db: Runner) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    const { schema } = this.options;
    let failed: unknown;
    try {
      await client.query('BEGIN');
      const result = await work({ rows: (statement, values = []) => execute(client, schema, statement, values) });
      await client.query('COMMIT');
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

  /** Ends every connection, after what is still on its way. A server that says nothing is not waited for: then that is rejected. */
  async close(): Promise<void> {
    await Promise.all([within(this.pool.end(), GOODBYE_MS), this.sockets.close(GOODBYE_MS)]);
  }
}

/** The caller's own TypeORM transaction as a runner: what is written through it exists if that transaction commits, and only then. */
export async function joinTransaction(manager: EntityManager, schema: string): Promise<Runner> {
  const client = (await manager.queryRunner?.connect()) as pg.ClientBase | undefined;
  if (!client) {
    throw new TypeError(
      'The given manager is not inside a transaction. Pass the one that dataSource.transaction(async (manager) => …) hands you.',
    );
  }
  // TypeORM takes pg-native by itself where it is installed, and that knows parameters as text only.
  const native = 'native' in client;
  const sendable = (value: unknown) => (native && Buffer.isBuffer(value) ? arrayText(itemsOf(value)) : value);
  return { rows: (statement, values = []) => execute(client, schema, statement, values.map(sendable)) };
}

async function execute<Row>(
  client: pg.Pool | pg.ClientBase,
  schema: string,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query(textFor(statement, schema), values as unknown[]);
  return result.rows as Row[];
}

/** True when PostgreSQL itself answered with an error, so the outcome is known: nothing was written. */
export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && typeof error.code === 'string' && !/^(57P0|08)/.test(error.code);
}

/** A serialization failure or a deadlock: the same statement may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** Runs work again after a serialization failure or a deadlock, a few times. */
export async function retrying<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt >= attempts) throw error;
    }
  }
}
