// An engine on a real database for specs: flows and tasks written in place, executions started through the store.

import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import {
  Engine,
  type EngineEvent,
  type EngineEvents,
  type EngineOptions,
  type RunnableTask,
  type Runtime,
  type SnapshotStore,
  StoredPrograms,
  type TaskContext,
  type TaskPolicy,
} from '../../libs/engine/index.js';
import { compile, type FlowLimits, saveProgram } from '../../libs/flow/index.js';
import { type IsolationOptions, IsolationPool } from '../../libs/isolation/index.js';
import { getExecution, insertExecutions, type NewExecution, newId, Store, sql, upsertDefinitions } from '../../libs/store/index.js';
import { didYouMean } from '../../src/nearest.js';
import { waitFor } from '../support/wait-for.js';

export type Handler = (input: never, context: TaskContext) => unknown;

export interface HarnessOptions {
  url: string;
  schema: string;
  flows?: Record<string, string>;
  tasks?: Record<string, Handler>;
  policies?: Record<string, Partial<TaskPolicy>>;
  engine?: Partial<EngineOptions>;
  appDataSource?: DataSource;
  snapshots?: SnapshotStore;
  runtime?: Runtime;
  /** Of flows. */
  limits?: Partial<FlowLimits>;
  /** A stream that the harness does not subscribe to. */
  stream?: EngineEvents;
  /** Keep what is in the database: it belongs to another process of the same test. */
  keep?: boolean;
  /** The flows whose turns run in processes of their own, and those processes. */
  isolate?: readonly string[];
  isolation?: Partial<IsolationOptions>;
}

const POLICY: TaskPolicy = {
  queue: 'default',
  priority: 0,
  maxAttempts: 1,
  backoff: 'fixed',
  delayMs: 10,
  maxDelayMs: 1_000,
  jitter: false,
  transactional: false,
};

/** A store with flows published, and as many engines on it as a spec wants. */
export class Harness {
  readonly events: EngineEvent[] = [];
  private readonly engines: Engine[] = [];
  private readonly flows = new Map<string, { version: string; program: ReturnType<typeof compile>; allow: undefined; isolate: boolean }>();

  readonly isolation: IsolationPool;

  private constructor(
    readonly store: Store,
    private readonly options: HarnessOptions,
  ) {
    this.isolation = new IsolationPool(options.isolation);
  }

  static async open(options: HarnessOptions): Promise<Harness> {
    const store = await Store.open({ url: options.url, schema: options.schema, poolSize: 5 });
    const harness = new Harness(store, options);
    // Tests of one file share a database; what an earlier one left must not be counted by a later one.
    const tables = await harness.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = $1 AND tablename NOT IN ('migrations', 'schema_info')`,
      [options.schema],
    );
    if (!options.keep) await harness.query(`TRUNCATE ${tables.map(({ name }) => `rhythm.${name}`).join(', ')}`);
    for (const [name, source] of Object.entries(options.flows ?? {})) await harness.publish(name, source);
    return harness;
  }

  /** Compiles a flow and stores it; another source of the same name is a new version. */
  async publish(name: string, source: string): Promise<string> {
    const program = compile(source, { file: `${name}.flow` });
    const version = createHash('sha256').update(source).digest('hex');
    const isolate = this.options.isolate?.includes(name) ?? false;
    this.flows.set(name, { version, program, allow: undefined, isolate });
    await upsertDefinitions(this.store.db, [
      { name, version, source, file: `${name}.flow`, fingerprint: program.fingerprint, program: saveProgram(program), allow: {}, isolate },
    ]);
    return version;
  }

  /** Starts another engine. */
  async engine(
    options: Partial<EngineOptions> = {},
    store = this.store,
    handlers = this.options.tasks ?? {},
    limits = this.options.limits ?? {},
  ): Promise<Engine> {
    const tasks = new Map<string, RunnableTask>(
      Object.entries(handlers).map(([name, run]) => [
        name,
        { name, policy: { ...POLICY, ...this.options.policies?.[name] }, run: run as RunnableTask['run'] },
      ]),
    );
    const engine = new Engine({
      store,
      tasks: { get: (name) => tasks.get(name), names: () => [...tasks.keys()], suggest: (name) => didYouMean(name, tasks.keys()) },
      programs: new StoredPrograms(store, { get: (name) => this.flows.get(name) }, limits, this.options.runtime, this.isolation),
      appDataSource: this.options.appDataSource,
      snapshots: this.options.snapshots,
      runtime: this.options.runtime,
      events: this.options.stream,
      options: { pollMs: 100, heartbeatMs: 200, deadAfterMs: 1_000, shutdownGraceMs: 2_000, ...this.options.engine, ...options },
    });
    if (!this.options.stream) engine.events.subscribe((event) => this.events.push(event));
    await engine.start();
    this.engines.push(engine);
    return engine;
  }

  async start(name: string, input?: unknown, extra: Partial<NewExecution> = {}): Promise<string> {
    const flow = this.flows.get(name);
    const id = extra.id ?? newId();
    await insertExecutions(this.store.db, [
      {
        id,
        type: flow ? 'workflow' : 'task',
        targetName: name,
        queue: 'default',
        ...(flow ? { version: flow.version } : {}),
        ...(input === undefined ? {} : { input: JSON.stringify(input) }),
        ...extra,
      },
    ]);
    this.store.hints.hint('work', extra.queue ?? 'default');
    return id;
  }

  /** Waits until the execution has ended. Resolves with its record and the parsed output. */
  async ended(id: string, timeoutMs = 15_000) {
    const record = await waitFor(
      `the end of ${id}`,
      async () => {
        const found = await getExecution(this.store.db, id);
        return found?.finishedAt ? found : undefined;
      },
      { timeoutMs },
    );
    return { ...record, value: record.output === null ? undefined : JSON.parse(record.output) };
  }

  async status(id: string): Promise<string | undefined> {
    return (await getExecution(this.store.db, id))?.status;
  }

  async count(table: string, where = 'true'): Promise<number> {
    const [row] = await this.store.db.rows<{ n: number }>(
      sql('spec_count', `SELECT count(*)::integer AS n FROM rhythm.${table} WHERE ${where}`),
    );
    return row.n;
  }

  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.store.db.rows<Row>(sql('spec', text), values);
  }

  problems(): string[] {
    return this.events.flatMap((event) => (event.type === 'problem' ? [`${event.where}: ${String(event.error)}`] : []));
  }

  async close(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.stop()));
    await this.isolation.close();
    await this.store.close();
  }
}
