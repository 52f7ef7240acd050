// One connection of the engine's own: pinned plans, named statements, queries of several callers pipelined.

import pg from 'pg';
import { type ConnectionOptions, clientConfig, REPLY_TIMEOUT_MS } from './connection-options.js';
import { intercepted } from './intercept.js';
import { PreparedShapes } from './prepared-shapes.js';
import { CLOSE_TIMEOUT_MS, Sockets } from './sockets.js';
import { quoteName, type Runner, type Statement, textFor } from './statement.js';

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

/** A connection that is not part of the pool. */
export class EngineConnection implements Runner {
  private readonly client: pg.Client;
  private readonly prepared = new Map<Statement, pg.QueryConfig>();
  private readonly shapes = new PreparedShapes();
  private readonly sockets = new Sockets();
  /** Milliseconds without a reply after which a statement ends the connection. */
  readonly replyTimeoutMs: number;
  /** True once the connection is gone; its user opens another. */
  broken = false;

  private constructor(private readonly options: ConnectionOptions) {
    const session = [
      ...PINNED_PLANS,
      ...(options.asyncCommit ? ['synchronous_commit=off'] : []),
      ...(options.lockTimeoutMs ? [`lock_timeout=${options.lockTimeoutMs}`] : []),
    ];
    const pins = options.pooled ? {} : { options: session.map((pin) => `-c ${pin}`).join(' ') };
    // A server that disappeared (a failed host, a firewall that dropped the connection) never replies, and TCP alone
    // notices after a quarter of an hour. The connection is then dropped; the outcome of its statements is unknown, as after any loss.
    this.replyTimeoutMs = options.replyTimeoutMs ?? REPLY_TIMEOUT_MS;
    const { make } = this.sockets;
    this.client = new pg.Client({
      ...clientConfig(options),
      ...pins,
      query_timeout: this.replyTimeoutMs,
      stream: make,
      pipeline: true,
    } as pg.ClientConfig);
    // A lost connection emits `error`; without a listener that would end the host process.
    this.client.on('error', () => {
      this.broken = true;
    });
    this.client.on('end', () => {
      this.broken = true;
    });
  }

  /** Connects; aborting `signal` gives up. */
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

  rows<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const { intercept } = this.options;
    // Without an interceptor no closure is made: this is the hot path.
    return intercept ? intercepted(intercept, statement, () => this.send<Row>(statement, values)) : this.send<Row>(statement, values);
  }

  onNotification(listener: (channel: string, payload: string) => void): void {
    this.client.on('notification', (message) => listener(message.channel, message.payload ?? ''));
  }

  onEnd(listener: () => void): void {
    this.client.on('end', listener);
  }

  /** Closes it after the statements in flight. Those that a silent server does not complete in time are rejected. */
  async close(withinMs = CLOSE_TIMEOUT_MS): Promise<void> {
    this.broken = true;
    const ended = this.client.end().catch(() => undefined);
    await this.sockets.close(withinMs);
    await ended;
  }

  private async send<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    let query = this.prepared.get(statement);
    if (!query) {
      const text = textFor(statement, this.options.schema);
      query = this.options.pooled || statement.isShape ? { text } : { name: statement.name, text };
      this.prepared.set(statement, query);
    }
    if (!statement.isShape || this.options.pooled)
      return (await this.client.query({ ...query, values: values as unknown[] })).rows as Row[];
    const { name, drop } = this.shapes.use(statement);
    if (drop !== undefined) this.deallocate(drop);
    return (await this.client.query({ ...query, name, values: values as unknown[] })).rows as Row[];
  }

  // Statements are run in the order in which they are sent, so what used this name before is not disturbed. If the connection is lost,
  // the statement that is sent next says so; if the name was never prepared because its statement was refused, there is nothing to drop.
  private deallocate(name: string): void {
    this.client.query(`DEALLOCATE ${quoteName(name)}`).catch(() => undefined);
  }
}
