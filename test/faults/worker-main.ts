// An engine in a process of its own, started by `spawn-engine.ts`, with tasks that hold, crash, pay and finish.

import { hostname } from 'node:os';
import { DataSource } from 'typeorm';
import type { TaskContext } from '../../libs/engine/index.js';
import { Store } from '../../libs/store/index.js';
import { Harness } from '../engine/harness.js';

const say = (line: string) => process.stdout.write(`${line}\n`);
const url = process.env.WORKER_URL as string;
const held = new Set<() => void>();
// SIGUSR2 ends what `hold` holds.
process.on('SIGUSR2', () => {
  for (const end of held) end();
});

// An app with tables of its own, for transactional tasks. `WORKER_DIES` names the moment at which it is killed.
const app = process.env.WORKER_APP ? await new DataSource({ type: 'postgres', url, applicationName: 'shop' }).initialize() : undefined;
// Stops like a host that freezes between the fenced write and the COMMIT of a task, while its siblings wait for the locks of that one.
let frozen = false;
const FREEZES_BEFORE = Number(process.env.WORKER_FREEZES_BEFORE);
const freezeBefore = async (siblings: number) => {
  if (frozen) return;
  frozen = true;
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'shop' AND wait_event_type = 'Lock'`;
  while ((await app!.query(waiting)).length < siblings) await new Promise((resolve) => setTimeout(resolve, 5));
  say('freezes');
  process.kill(process.pid, 'SIGSTOP');
};
const die = (moment: string, id: string) => {
  if (process.env.WORKER_DIES !== moment) return;
  say(`dies ${moment} ${id}`);
  process.kill(process.pid, 'SIGKILL');
};

const harness = await Harness.open({
  url,
  schema: process.env.WORKER_SCHEMA as string,
  keep: true,
  appDataSource: app,
  flows: JSON.parse(process.env.WORKER_FLOWS as string),
  tasks: {
    one: () => 1,
    report: async (_: unknown, { heartbeat }: TaskContext) => {
      await heartbeat('halfway');
      return process.env.WORKER_NAME;
    },
    hold: (_: unknown, { signal, executionId }) =>
      new Promise((resolve) => {
        say(`holding ${executionId}`);
        const end = (value?: string) => {
          clearTimeout(timer);
          held.delete(finish);
          resolve(value);
        };
        const finish = () => end(process.env.WORKER_NAME);
        const timer = setTimeout(finish, Number(process.env.WORKER_HOLD_MS));
        held.add(finish);
        signal.addEventListener('abort', () => {
          say(`aborted: ${(signal.reason as Error).message}`);
          end('aborted');
        });
      }),
    crash: () => {
      say('crashing');
      process.kill(process.pid, 'SIGKILL');
    },
    pay: async (_: unknown, { manager, executionId }: TaskContext) => {
      await manager.query('INSERT INTO paid (id) VALUES ($1)', [executionId]);
      die('before its result', executionId);
      const { queryRunner } = manager;
      const commit = queryRunner!.commitTransaction.bind(queryRunner);
      queryRunner!.commitTransaction = async () => {
        die('before its commit', executionId);
        if (FREEZES_BEFORE > 0) await freezeBefore(FREEZES_BEFORE);
        return commit();
      };
      return 'paid';
    },
  },
  policies: { pay: { transactional: app !== undefined } },
  engine: { heartbeatMs: 100, deadAfterMs: 700, ...JSON.parse(process.env.WORKER_OPTIONS as string) },
});
// It kills itself at one of the statements that begin with this name: before it is sent, or once it was executed.
const [killedAt, moment, nth] = (process.env.WORKER_KILLED_AT ?? '').split(' ');
let left = Number(nth);
const store = killedAt
  ? await Store.open({
      url,
      schema: process.env.WORKER_SCHEMA,
      intercept: async (name, run) => {
        const isLast = name.startsWith(killedAt) && --left === 0;
        const kill = () => {
          say(`killed ${moment} ${name}`);
          process.kill(process.pid, 'SIGKILL');
        };
        if (isLast && moment === 'before') kill();
        const rows = await run();
        if (isLast) kill();
        return rows;
      },
    })
  : harness.store;
const engine = await harness.engine({}, store);
say(`ready ${engine.workerId} on ${hostname()}`);
setInterval(() => {
  for (const event of harness.events.splice(0)) {
    if (event.type === 'problem') say(`problem ${event.where}`);
    if (event.type === 'worker-declared-dead' || event.type === 'worker-started' || event.type === 'lost' || event.type === 'recovered')
      say(`${event.type} ${JSON.stringify(event)}`);
  }
}, 10);
