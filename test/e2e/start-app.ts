// A real Nest application with Rhythm, for one test; closed at the end of the file.

import { afterAll } from '@jest/globals';
import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CompletionService,
  DefinitionService,
  ExecutionService,
  RhythmModule,
  type RhythmModuleOptions,
  SchedulerService,
  SignalService,
} from '../../src/index.js';
import type { TestDatabase } from '../support/index.js';

export interface TestApp {
  app: INestApplicationContext;
  executions: ExecutionService;
  signals: SignalService;
  scheduler: SchedulerService;
  definitions: DefinitionService;
  completions: CompletionService;
  close(): Promise<void>;
}

/** A logger that writes nothing. */
export const SILENT = { log() {}, warn() {}, error() {} };

const open = new Set<TestApp>();
afterAll(async () => {
  for (const app of open) await app.close();
});

/** Few connections and short polls. */
export function quickOptions(database: Pick<TestDatabase, 'url' | 'schema'>, options: RhythmModuleOptions = {}): RhythmModuleOptions {
  const { worker, database: given, ...rest } = options;
  return {
    database: { url: database.url, schema: database.schema, maxConnections: 12, minConnections: 0, ...(given as object) },
    worker: { pollInterval: '200ms', shutdownGrace: '2s', ...worker },
    ...rest,
  };
}

/** Boots an application; `providers` hold its tasks. */
export async function startApp(
  database: Pick<TestDatabase, 'url' | 'schema'>,
  options: RhythmModuleOptions = {},
  { providers = [], imports = [] }: Pick<ModuleMetadata, 'providers' | 'imports'> = {},
): Promise<TestApp> {
  const module = await Test.createTestingModule({
    imports: [RhythmModule.forRoot(quickOptions(database, options)), ...imports],
    providers,
  })
    .setLogger(SILENT)
    .compile();
  const app = await module.init();
  const running: TestApp = {
    app,
    executions: app.get(ExecutionService),
    signals: app.get(SignalService),
    scheduler: app.get(SchedulerService),
    definitions: app.get(DefinitionService),
    completions: app.get(CompletionService),
    async close() {
      open.delete(running);
      await app.close();
    },
  };
  open.add(running);
  return running;
}
