// Hints between processes over LISTEN and NOTIFY: work has come, an execution has ended. Polling always stands behind them.

import { createHash } from 'node:crypto';
import { ANSWER_TIMEOUT_MS, type ConnectionOptions, EngineConnection } from './connections.js';
import { GOODBYE_MS } from './sockets.js';
import { quoteName, type Runner, sql } from './statement.js';
import { within } from './within.js';

/**
 * `work`: a queue has something runnable. `ended`: an execution that someone may wait for has ended.
 * `lane`: work that waits for the task of this name was put into its lane. `lost`: an execution was taken from whoever runs it. `timer`: something was scheduled by a process that keeps no timers.
 * `awaiting`: a process waits for ends. `asking`: a process that has just begun to listen asks who does.
 */
export type HintKind = 'work' | 'lane' | 'ended' | 'lost' | 'timer' | 'awaiting' | 'asking';

type HintListener = (subject: string) => void;

/** The subject that means "too many to name: look yourself". */
export const ANY = '*';

const SPACING_MS = 5;

// PostgreSQL wakes every process that listens in the database, whatever its channel, for every NOTIFY. So ends are announced
// only while somebody waits for one, and whoever does says so now and then: 100 workers contending 32k → 45k tasks per second.
const SAY_AWAITING_MS = 10_000;
const AWAITED_MS = 3 * SAY_AWAITING_MS;
const ANSWER_MS = 1_000;

// A NOTIFY is a transaction with a commit record of its own. Nobody waits until it is on the disk: a hint that is lost with the
// server is only a hint.
const NOTIFY = sql(
  'notify',
  `SELECT set_config('synchronous_commit', 'off', true), pg_notify(m.channel, m.p) FROM unnest($1::text[], $2::text[]) AS m(channel, p)`,
);

/** One LISTEN connection per process, shared by everyone who waits, and the coalesced sending of hints. */
export class Notifications {
  private readonly schema: string;
  private readonly listeners = new Map<HintKind, Set<HintListener>>();
  private readonly outgoing = new Map<HintKind, Set<string>>();
  /** Hints arrive here. */
  private connection: EngineConnection | undefined;
  /** The same one, or one that does not listen yet. */
  private opened: EngineConnection | undefined;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private started = false;
  /** Until when somebody is taken to wait for ends. */
  private awaitedUntil = 0;
  /** When an end was last kept to ourselves. */
  private untoldAt = Number.NEGATIVE_INFINITY;
  /** When this process last waited, and when it last said so. */
  private awaitedHere = Number.NEGATIVE_INFINITY;
  private saidAwaiting = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly sender: Runner,
    /** Where to listen; undefined behind a transaction pooler without a direct address. */
    private readonly direct: ConnectionOptions | undefined,
    schema: string,
    private readonly probeMs = 15_000,
  ) {
    this.schema = schema;
  }

  /** True while hints arrive. While it is false, whoever waits must poll. */
  get listening(): boolean {
    return this.connection !== undefined && !this.connection.broken;
  }

  /** Connects, and keeps connecting again until `stop`. A second call does nothing. */
  async start(): Promise<void> {
    if (!this.direct || this.stopping.signal.aborted || this.started) return;
    this.started = true;
    await this.keepListening();
  }

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

  /** Ends are waited for here. To be called as long as they are, as often as one likes: others are told now and then. */
  awaitEnds(): void {
    // Who does not listen would not hear.
    if (!this.listening) return;
    const now = performance.now();
    this.awaitedHere = now;
    if (now - this.saidAwaiting < SAY_AWAITING_MS) return;
    this.saidAwaiting = now;
    this.hint('awaiting', ANY);
  }

  /** Stops listening, and sends what was still to be sent, if the server answers. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('This connection was closed at shutdown.'));
    clearTimeout(this.timer);
    // A process that ends right after a start or a signal still says so.
    await within(this.flushing, GOODBYE_MS);
    await this.opened?.close();
  }

  // Who cannot listen cannot know.
  private isAwaited(): boolean {
    if (!this.listening) return true;
    const now = performance.now();
    if (now < this.awaitedUntil) return true;
    this.untoldAt = now;
    return false;
  }

  // What ended while the word was on its way is told now.
  private awaited(): void {
    const now = performance.now();
    const wasAwaited = now < this.awaitedUntil;
    this.awaitedUntil = now + AWAITED_MS;
    if (!wasAwaited && now - this.untoldAt < SAY_AWAITING_MS) this.hint('ended', ANY);
  }

  private async flush(): Promise<void> {
    // One turn of the event loop lets the rest of the moment's hints join.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.outgoing.size > 0) {
      const kinds = [...this.outgoing.keys()];
      const messages = [...this.outgoing].map(([kind, subjects]) => messageOf(kind, subjects));
      this.outgoing.clear();
      // A hint that cannot be sent is only a hint: the poll behind it finds the same thing.
      await this.sender.rows(NOTIFY, [kinds.map((kind) => channelOf(this.schema, kind)), messages]).catch(() => undefined);
      // The first hint goes at once; under load the rest of these milliseconds travel together.
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
      // Until those who wait have had the time to answer, somebody may.
      this.awaitedUntil = Math.max(this.awaitedUntil, performance.now() + ANSWER_MS);
      this.hint('asking', ANY);
      connection.onEnd(() => this.again(200));
      this.probe(connection);
    } catch {
      // A server that refuses LISTEN (a standby) must not collect our connections.
      await connection?.close();
      this.again(1_000);
    }
  }

  // LISTEN takes no time, so silence after it is known for what it is sooner than after the statements of the engine.
  private options(): ConnectionOptions {
    const { answerTimeoutMs = ANSWER_TIMEOUT_MS, ...direct } = this.direct as ConnectionOptions;
    return { ...direct, answerTimeoutMs: Math.min(answerTimeoutMs, this.probeMs) };
  }

  // Where this fails the connection is lost or of no use; the one after it listens for ends from the beginning.
  private async listenForEnds(connection: EngineConnection): Promise<void> {
    try {
      await this.listen(connection, 'ended');
    } catch {
      await connection.close();
    }
  }

  // What happened while nobody listened was not heard: everyone looks once.
  private async listen(connection: EngineConnection, kind: HintKind): Promise<void> {
    const channel = channelOf(this.schema, kind);
    await connection.rows({ name: `listen_${channel}`, text: `LISTEN ${quoteName(channel)}` });
    for (const each of this.listeners.keys()) if (channelOf(this.schema, each) === channel) this.tell(each, ANY);
  }

  // A connection may be dead without saying so (a firewall that forgot it): ask, and start over when no answer comes.
  private probe(connection: EngineConnection): void {
    this.timer = setTimeout(async () => {
      const answer = connection.rows(sql('probe', 'SELECT 1')).then(
        () => true,
        () => false,
      );
      const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), this.probeMs).unref());
      if (connection.broken || this.stopping.signal.aborted) return;
      if (await Promise.race([answer, late])) this.probe(connection);
      else await connection.close();
    }, this.probeMs);
    this.timer.unref();
  }

  private again(afterMs: number): void {
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
    if (kind === 'asking') return this.answer();
    for (const subject of payload.slice(colon + 1).split('\n')) this.tell(kind, unescaped(subject));
  }

  private answer(): void {
    if (performance.now() - this.awaitedHere > SAY_AWAITING_MS) return;
    this.saidAwaiting = Number.NEGATIVE_INFINITY;
    this.awaitEnds();
  }

  private tell(kind: HintKind, subject: string): void {
    for (const listener of this.listeners.get(kind) ?? []) listener(subject);
  }
}

// Ends have a channel of their own, which only those hear who wait for one.
// A channel may have 63 bytes; NOTIFY refuses a longer name, and a schema may have as many by itself.
function channelOf(schema: string, kind: HintKind): string {
  const prefix = kind === 'ended' ? 'rhythm_ended_' : 'rhythm_hints_';
  if (Buffer.byteLength(prefix + schema) <= 63) return prefix + schema;
  return prefix + createHash('sha256').update(schema).digest('hex').slice(0, 32);
}

// Subjects are separated by newlines, which an id may contain.
const escaped = (subject: string) => subject.replace(/[%\n]/g, (char) => (char === '%' ? '%25' : '%0A'));
const unescaped = (text: string) => text.replace(/%25|%0A/g, (code) => (code === '%25' ? '%' : '\n'));

// A payload may have 8,000 bytes; past one message the subjects are not worth naming.
function messageOf(kind: HintKind, subjects: Set<string>): string {
  // As many would not fit whatever they are called, and joining them would cost more than the message.
  if (subjects.size > 1_000) return `${kind}:${ANY}`;
  const text = [...subjects].map(escaped).join('\n');
  return Buffer.byteLength(text) < 7_900 ? `${kind}:${text}` : `${kind}:${ANY}`;
}
