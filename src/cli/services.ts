// The services of the module without a Nest application: what a command needs to work on the database.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Store } from '../../libs/store/index.js';
import type { LoadedSettings } from '../config/load-settings.js';
import type { RhythmSettings } from '../config/schema.js';
import { DatabaseHost } from '../database/database.host.js';
import { DatabaseUnreachableError, isConnectionFailure } from '../database/unreachable.js';
import { RhythmEvents } from '../events/rhythm.events.js';
import { ExecutionService } from '../execution/execution.service.js';
import { TargetResolver } from '../execution/target.resolver.js';
import { DefinitionService } from '../flows/definition.service.js';
import { FlowRegistry } from '../flows/flow.registry.js';
import { SignalService } from '../signal/signal.service.js';
import { TaskRegistry } from '../tasks/task.registry.js';
import { UsageError } from './usage-error.js';

/** The services of one command. */
export interface CliServices {
  settings: RhythmSettings;
  store: Store;
  /** The address of the database, the embedded server's if there is one. */
  url: string;
  executions: ExecutionService;
  signals: SignalService;
  definitions: DefinitionService;
}

// A person is waiting, so less than the ten seconds of a server at boot.
const CONNECT_MS = 5_000;
// TypeORM's two, one for LISTEN, and three for queries.
const CONNECTIONS = 6;

/** Connects, calls `work`, and closes the connections. The process has no flows and no tasks of its own, and never migrates. */
export async function withServices<T>(loaded: LoadedSettings, work: (services: CliServices) => Promise<T>): Promise<T> {
  refuseNewEmbedded(loaded.settings);
  const settings = forOneCommand(loaded.settings);
  const host = await DatabaseHost.open(settings);
  const own = { ...loaded, settings };
  const flows = new FlowRegistry();
  const targets = new TargetResolver(flows, new TaskRegistry(), host, {}, own);
  const executions = new ExecutionService(host, targets, own, {});
  try {
    return await work({
      settings,
      store: host.store,
      url: host.url,
      executions,
      signals: new SignalService(host, own, new RhythmEvents()),
      definitions: new DefinitionService(host, flows),
    });
  } catch (error) {
    throw isConnectionFailure(error) ? new DatabaseUnreachableError(host.url, error) : error;
  } finally {
    executions.onModuleDestroy();
    await host.close();
  }
}

/** A command that reads or controls runs must not make an empty server because it was called in another folder than the app's. */
export function refuseNewEmbedded({ database }: RhythmSettings): void {
  if (database.url !== 'embedded') return;
  const folder = resolve(database.embeddedDir);
  if (existsSync(folder)) return;
  throw new UsageError(
    `There is no embedded database in ${folder}. Run this in the folder of the app, or give its folder as database.embeddedDir (RHYTHM_DATABASE_EMBEDDED_DIR).`,
    'To make a new one there: rhythm migrate, or start the app.',
  );
}

function forOneCommand(settings: RhythmSettings): RhythmSettings {
  const { database } = settings;
  return {
    ...settings,
    role: 'api',
    autoMigrate: false,
    database: {
      ...database,
      maxConnections: Math.min(CONNECTIONS, database.maxConnections),
      minConnections: 0,
      acquireTimeout: Math.min(CONNECT_MS, database.acquireTimeout),
    },
  };
}
