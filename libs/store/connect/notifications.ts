// Hints between processes over LISTEN and NOTIFY: there is work, an execution has ended. They only save time: all waiters poll as well.

import { createHash } from 'node:crypto';
import { type ConnectionOptions, REPLY_TIMEOUT_MS } from './connection-options.js';
import { EngineConnection } from './engine-connection.js';
import { CLOSE_TIMEOUT_MS } from './sockets.js';
import { quoteName, type Runner, sql } from './statement.js';
import { within } from './within.js';

/**
 * `work`: a queue has something runnable. `lane`: work for the task of this name was put into its lane.
 * `ended`: an execution that someone may wait for has ended. `lost`: an execution was taken from the worker that runs it.
 * `timer`: something was scheduled by a process that runs no timers.
 * `awaiting`: a process waits for executions to end. `asking`: a process that has just begun to listen asks who does.
 */
export type HintKind = 'work' | 'lane' | 'ended' | 'lost' | 'timer' | 'awaiting' | 'asking';

type HintListener = (subject: string) => void;

/** The subject that means "too many to name: check everything". */
export const ANY = '*';

const SPACING_MS = 5;

// PostgreSQL wakes every process that listens in the database, whatever its channel, for every NOTIFY. So `ended` is sent
// only while some process waits for one, and such a process announces it now and then: 100 workers contending 32k → 45k tasks per second.
const AWAITING_EVERY_MS = 10_000;
const AWAITED_MS = 3 * AWAITING_EVERY_MS;
const REPLY_MS = 1_000;

// A NOTIFY is a transaction with a commit record of its own. There is no need to wait for the disk: losing a hint in a crash of
// the server is harmless.
const NOTIFY = sql(
  'notify',
  `SELECT set_config('synchronous_commit', 'off', true), pg_notify(m.channel, m.p) FROM unnest($1::text[], $2::text[]) AS m(channel, p)`,
);

/** One LISTEN connection per process, shared by everyone who waits, and the sending of hints in batches. */
export class Notifications {
  private readonly schema: string;
  private readonly listeners = new Map<HintKind, Set<HintListener>>();
  private readonly outgoing = new Map<HintKind, Set<string>>();
  /** The connection that listens. */
  private connection: EngineConnection | undefined;
  /** The same connection, or one that was opened and does not listen yet. */
  private opened: EngineConnection | undefined;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private started = false;
  /** Until when some process is assumed to wait for ends. */
  private awaitedUntil = 0;
  /** When an end was last not announced, because no process waited. */
  private unsentAt = Number.NEGATIVE_INFINITY;
  /** When this process last waited, and when it last announced that. */
  private waitedAt = Number.NEGATIVE_INFINITY;
  private awaitingSentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly sender: Runner,
    /** Where to listen; undefined behind a transaction pooler without a direct address. */
    private readonly direct: ConnectionOptions | undefined,
    schema: string,
    private readonly probeMs = 15_000,
  ) {
    this.schema = schema;
  }

  /** True while hints arrive. While it is false, callers that wait must poll. */
  get listening(): boolean {
    return this.connection !== undefined && !this.connection.broken;
  }

  /** Connects, and reconnects until `stop`. A second call does nothing. */
  async start(): Promise<void> {
    if (!this.direct || this.stopping.signal.aborted || this.started) return;
    this.started = true;
    await this.keepListening();
  }

  /** Calls the listener with the subject of each hint of this kind. Returns a function that unsubscribes it. */
  on(kind: HintKind, listener: HintListener): () => void {
    const set = this.listeners.get(kind) ?? new Set();
    this.listeners.set(kind, set.add(listener));
    if (kind === 'ended' && set.size === 1 && this.connection) void this.listenForEnds(this.connection);
    return () => set.delete(listener);
  }

  /**
   * Sends a hint soon. Hints of the same moment travel together, outside every transaction of the engine:
   * NOTIFY takes a global lock at commit (6,264 → 2,170 commits/s at 32 clients).
   */
  hint(kind: HintKind, subject: string): void {
    if (this.stopping.signal.aborted || (kind === 'ended' && !this.isAwaited())) return;
    const set = this.outgoing.get(kind) ?? new Set();
    this.outgoing.set(kind, set.add(subject));
    this.flushing ??= this.flush();
  }

  /** Announces that this process waits for ends. Call it for as long as that is so, as often as you like: the hint is sent now and then. */
  awaitEnds(): void {
    // A process that does not listen gains nothing from the hint.
    if (!this.listening) return;
    const now = performance.now();
    this.waitedAt = now;
    if (now - this.awaitingSentAt < AWAITING_EVERY_MS) return;
    this.awaitingSentAt = now;
    this.hint('awaiting', ANY);
  }

  /** Stops listening, and sends the hints that are left if the server responds. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('This connection was closed at shutdown.'));
    clearTimeout(this.timer);
    // Without this, a process that exits right after a start or a signal would send no hint.
    await within(this.flushing, CLOSE_TIMEOUT_MS);
    await this.opened?.close();
  }

  // A process that does not listen cannot tell, so it assumes that another waits.
  private isAwaited(): boolean {
    if (!this.listening) return true;
    const now = performance.now();
    if (now < this.awaitedUntil) return true;
    this.unsentAt = now;
    return false;
  }

  // What ended just before this hint arrived was not announced; it is now.
  private awaited(): void {
    const now = performance.now();
    const wasAwaited = now < this.awaitedUntil;
    this.awaitedUntil = now + AWAITED_MS;
    if (!wasAwaited && now - this.unsentAt < AWAITING_EVERY_MS) this.hint('ended', ANY);
  }

  private async flush(): Promise<void> {
    // One turn of the event loop, so that hints of the same moment are sent together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.outgoing.size > 0) {
      const kinds = [...this.outgoing.keys()];
      const messages = [...this.outgoing].map(([kind, subjects]) => messageOf(kind, subjects));
      this.outgoing.clear();
      // A hint that cannot be sent does no harm: polling finds the same thing.
      await this.sender.rows(NOTIFY, [kinds.map((kind) => channelOf(this.schema, kind)), messages]).catch(() => undefined);
      // The first hint is sent at once; under load, those of the next milliseconds are sent together.
      await new Promise((resolve) => setTimeout(resolve, SPACING_MS));
    }
    this.flushing = undefined;
  }

  private async keepListening(): Promise<void> {
    let connection: EngineConnection | undefined;
    try {
      connection = await EngineConnection.open(this.options(), this.stopping.signal);
      this.opened = connection;
      connection.onNotification((_channel, payload) => this.deliver(payload));
      await this.listen(connection, 'work');
      if (this.listeners.get('ended')?.size) await this.listen(connection, 'ended');
      this.connection = connection;
      // Until the processes that wait have had time to reply, assume that there is one.
      this.awaitedUntil = Math.max(this.awaitedUntil, performance.now() + REPLY_MS);
      this.hint('asking', ANY);
      connection.onEnd(() => this.reconnect(200));
      this.probe(connection);
    } catch {
      // A server that refuses LISTEN (a standby) must not accumulate our connections.
      await connection?.close();
      this.reconnect(1_000);
    }
  }

  // LISTEN takes no time, so a missing reply means a lost connection sooner than for the statements of the engine.
  private options(): ConnectionOptions {
    const { replyTimeoutMs = REPLY_TIMEOUT_MS, ...direct } = this.direct as ConnectionOptions;
    return { ...direct, replyTimeoutMs: Math.min(replyTimeoutMs, this.probeMs) };
  }

  // If this fails, the connection is lost or useless; the next one listens for ends from the beginning.
  private async listenForEnds(connection: EngineConnection): Promise<void> {
    try {
      await this.listen(connection, 'ended');
    } catch {
      await connection.close();
    }
  }

  // Hints that were sent before this are lost, so every listener is called once.
  private async listen(connection: EngineConnection, kind: HintKind): Promise<void> {
    const channel = channelOf(this.schema, kind);
    await connection.rows({ name: `listen_${channel}`, text: `LISTEN ${quoteName(channel)}` });
    for (const each of this.listeners.keys()) if (channelOf(this.schema, each) === channel) this.notify(each, ANY);
  }

  // A connection may be dead without an error (a firewall dropped it): send a query, and reconnect when no reply comes.
  private probe(connection: EngineConnection): void {
    this.timer = setTimeout(async () => {
      const reply = connection.rows(sql('probe', 'SELECT 1')).then(
        () => true,
        () => false,
      );
      const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), this.probeMs).unref());
      if (connection.broken || this.stopping.signal.aborted) return;
      if (await Promise.race([reply, late])) this.probe(connection);
      else await connection.close();
    }, this.probeMs);
    this.timer.unref();
  }

  private reconnect(afterMs: number): void {
    this.connection = undefined;
    clearTimeout(this.timer);
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => void this.keepListening(), afterMs);
    this.timer.unref();
  }

  private deliver(payload: string): void {
    const colon = payload.indexOf(':');
    const kind = payload.slice(0, colon) as HintKind;
    if (kind === 'awaiting') return this.awaited();
    if (kind === 'asking') return this.reply();
    for (const subject of payload.slice(colon + 1).split('\n')) this.notify(kind, unescaped(subject));
  }

  private reply(): void {
    if (performance.now() - this.waitedAt > AWAITING_EVERY_MS) return;
    this.awaitingSentAt = Number.NEGATIVE_INFINITY;
    this.awaitEnds();
  }

  private notify(kind: HintKind, subject: string): void {
    for (const listener of this.listeners.get(kind) ?? []) listener(subject);
  }
}

// Ends have a channel of their own, and only processes that wait for one listen to it.
// The name of a channel may have 63 bytes, NOTIFY refuses a longer one, and a schema's name may be as long by itself.
function channelOf(schema: string, kind: HintKind): string {
  const prefix = kind === 'ended' ? 'rhythm_ended_' : 'rhythm_hints_';
  if (Buffer.byteLength(prefix + schema) <= 63) return prefix + schema;
  return prefix + createHash('sha256').update(schema).digest('hex').slice(0, 32);
}

// Subjects are separated by newlines, which an id may contain.
const escaped = (subject: string) => subject.replace(/[%\n]/g, (char) => (char === '%' ? '%25' : '%0A'));
const unescaped = (text: string) => text.replace(/%25|%0A/g, (code) => (code === '%25' ? '%' : '\n'));

// A payload may have 8,000 bytes; subjects that do not fit into one message are not named.
function messageOf(kind: HintKind, subjects: Set<string>): string {
  // So many never fit, and joining them would cost more than the message.
  if (subjects.size > 1_000) return `${kind}:${ANY}`;
  const text = [...subjects].map(escaped).join('\n');
  return Buffer.byteLength(text) < 7_900 ? `${kind}:${text}` : `${kind}:${ANY}`;
}
