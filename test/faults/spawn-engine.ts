// Starts an engine in a process of its own (`worker-main.ts`), which a spec can freeze and kill.

import type { EngineOptions } from '../../libs/engine/index.js';
import { spawnWorker, type WorkerProcess } from '../support/index.js';

export interface EngineProcess {
  flows?: Record<string, string>;
  options?: Partial<EngineOptions>;
  /** How long the task `hold` runs; for ten minutes by default. */
  holdMs?: number;
  /** It is an app with tables of its own: the task `pay` is transactional. */
  app?: boolean;
  /** The moment of the task `pay` at which the process kills itself. */
  dies?: string;
  /** The process stops itself before the COMMIT of a task `pay` that so many others wait for. */
  freezesBefore?: number;
  /** The process kills itself at a statement: the beginning of its name, `before` or `after`, and which of them. */
  killedAt?: string;
  /** Node's own flags. */
  nodeArgs?: string[];
}

/** The name is the prefix of its worker's id, and the result of its task `hold`. */
export function spawnEngine(database: { url: string; schema: string }, name: string, engine: EngineProcess = {}): WorkerProcess {
  const { flows = {}, options = {}, holdMs = 600_000, app = false, dies = '', freezesBefore = 0, killedAt = '', nodeArgs } = engine;
  return spawnWorker('test/faults/worker-main.ts', {
    nodeArgs,
    env: {
      WORKER_URL: database.url,
      WORKER_SCHEMA: database.schema,
      WORKER_NAME: name,
      WORKER_FLOWS: JSON.stringify(flows),
      WORKER_OPTIONS: JSON.stringify(options),
      WORKER_HOLD_MS: String(holdMs),
      WORKER_APP: app ? 'yes' : '',
      WORKER_DIES: dies,
      WORKER_KILLED_AT: killedAt,
      WORKER_FREEZES_BEFORE: String(freezesBefore),
    },
  });
}
