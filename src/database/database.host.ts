// Owns the connections of this process: the store, and the embedded server if there is one.

import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type EmbeddedServer, startEmbedded } from '../../libs/embedded/index.js';
import { readIdentity, Store } from '../../libs/store/index.js';
import type { RhythmSettings } from '../config/schema.js';
import { explainRefusal } from './refused-boot.js';
import { DatabaseUnreachableError, isConnectionFailure } from './unreachable.js';

// The schemas that modules of this process use.
const open = new Set<string>();

async function placeOf(store: Store): Promise<string> {
  const { name, server } = await readIdentity(store.db);
  return JSON.stringify([server, name, store.schema]);
}

function warnOfSharing(schema: string): void {
  new Logger('Rhythm').warn(
    `Two Rhythm modules of this process use the schema "${schema}" of one database: they share runs, queues and workers, and each needs the tasks and flows of both. Give each its own database.schema, or use one module.`,
  );
}

/** The store of this process: open from when it can be injected until the application has shut down. */
export class DatabaseHost implements OnApplicationShutdown {
  private closing: Promise<void> | undefined;

  private constructor(
    readonly store: Store,
    /** The address in use, the embedded server's if there is one. */
    readonly url: string,
    private readonly embedded: EmbeddedServer | undefined,
    private readonly place: string,
  ) {}

  /** Starts the embedded server if it is configured, connects, and brings the schema up to date (or refuses an old one). */
  static async open(settings: RhythmSettings): Promise<DatabaseHost> {
    const { database } = settings;
    const embedded = database.url === 'embedded' ? await startEmbedded({ dataDir: database.embeddedDir, durable: true }) : undefined;
    const url = embedded?.url ?? (database.url as string);
    try {
      const store = await Store.open({
        url,
        schema: database.schema,
        pooled: database.pooled,
        directUrl: database.listenUrl,
        readUrl: database.readUrl,
        ...poolShare(settings),
        connectTimeoutMs: database.acquireTimeout,
        idleTimeoutMs: database.idleTimeout,
        maxLifetimeMs: database.maxLifetime,
        autoMigrate: settings.autoMigrate,
      });
      // Where there is a worker, its engine starts this.
      if (settings.role === 'api') await store.hints.start();
      const place = await placeOf(store);
      if (open.has(place)) warnOfSharing(database.schema);
      open.add(place);
      return new DatabaseHost(store, url, embedded, place);
    } catch (error) {
      await embedded?.stop();
      throw isConnectionFailure(error) ? new DatabaseUnreachableError(url, error) : explainRefusal(error, database.schema);
    }
  }

  /** Closes everything; safe to call twice. */
  close(): Promise<void> {
    if (!this.closing) open.delete(this.place);
    this.closing ??= this.store.close().then(() => this.embedded?.stop());
    return this.closing;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }
}

// How the connections of this process are divided: one that listens, one for starts, those of the engine where work is run, and
// the rest for the services. (TypeORM's two, for migrations and their lock, are closed before the others are opened.)
function poolShare({ database, role }: RhythmSettings): { poolSize: number; poolMin: number } {
  const engine = role === 'api' ? 0 : 7;
  const poolSize = Math.max(1, database.maxConnections - 2 - engine);
  return { poolSize, poolMin: Math.min(database.minConnections, poolSize) };
}
