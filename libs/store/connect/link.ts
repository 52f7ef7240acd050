// The connection of one loop of the engine: opened when it is first needed, and again when it was lost or has become too old.

import type { EngineConnection } from './engine-connection.js';
import { CLOSE_TIMEOUT_MS } from './sockets.js';
import { type Runner, type Statement, sql } from './statement.js';

const BEGIN = sql('begin', 'BEGIN');
const COMMIT = sql('end', 'COMMIT');
const ROLLBACK = sql('rollback', 'ROLLBACK');

/** When a connection is too old for another statement, in milliseconds. */
export interface LinkAge {
  /** Since its last use: a firewall between us and the server may have dropped it silently. */
  idleMs?: number;
  /** Since it was opened. */
  lifetimeMs?: number;
}

/** A runner that keeps one connection open. */
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

  /** Runs several statements in one transaction. Only for a link that is used by one caller: other statements would be part of it. */
  async transaction<T>(work: (db: Runner) => Promise<T>): Promise<T> {
    const { connection } = this;
    // The connection itself: after a loss, the rest of the transaction must not run on another one.
    const db: Runner = connection && !connection.broken ? connection : await this.reconnect();
    await db.rows(BEGIN);
    try {
      const result = await work(db);
      await db.rows(COMMIT);
      return result;
    } catch (error) {
      await db.rows(ROLLBACK).catch(() => undefined);
      throw error;
    }
  }

  /** Closes the connection. Statements in flight have this long to complete. */
  async close(withinMs = CLOSE_TIMEOUT_MS): Promise<void> {
    this.closing.abort(new Error('This connection was closed at shutdown.'));
    await this.opening?.catch(() => undefined);
    await this.connection?.close(withinMs);
  }

  // Statements in flight on the old connection complete before it is closed.
  private retire(): void {
    const { connection, age, openedAt, usedAt } = this;
    const now = performance.now();
    const isOld = (age.idleMs && now - usedAt > age.idleMs) || (age.lifetimeMs && now - openedAt > age.lifetimeMs);
    if (!connection || !isOld) return;
    this.connection = undefined;
    void connection.close(connection.replyTimeoutMs);
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
