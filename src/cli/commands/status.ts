// `rhythm status`: shows the whole system: schema, counts, queues, workers and the workflow versions in use.

import { countStatuses, SCHEMA_VERSION, schemaVersion, WAITING_KINDS } from '../../../libs/store/index.js';
import type { SystemStatus } from '../../execution/execution.service.js';
import type { CliCommand, CliContext } from '../command.js';
import { readTime, STATUSES } from '../filters.js';
import { count, paintStatus, span } from '../format.js';
import type { CliServices } from '../services.js';
import { type Column, renderTable } from '../table.js';
import { WATCH, watching } from '../watch.js';

interface Status extends SystemStatus {
  schema: { name: string; version: number; needed: number };
  since: Date;
  /** Executions created since then, by status. */
  counts: Record<string, number>;
}

export const statusCommand: CliCommand = (program, context) => {
  program
    .command('status')
    .description('Show the schema version, executions by status, queues, workers, and workflow versions in use.')
    .option('--since <time>', 'count executions created in the last 24h, 7d, …, or after a date', '24h')
    .option(...WATCH)
    .addHelpText('after', '\nJSON data: { schema: { name, version, needed }, since, counts, queues, workers, unserved, versions, waiting }')
    .addHelpText('after', '\nExamples:\n  rhythm status\n  rhythm status --since 7d\n  rhythm status --watch 5s')
    .action(
      context.action((flags: { since: string; watch?: string | boolean }) =>
        context.withServices(async (services) => {
          await watching(context, flags.watch, async () => {
            const status = await read(services, readTime(flags.since, '--since'));
            context.report(status, () => print(status, flags.since, context));
            return false;
          });
          return undefined;
        }),
      ),
    );
};

async function read({ executions, store }: CliServices, since: Date): Promise<Status> {
  const [system, counts, version] = await Promise.all([
    executions.status(),
    countStatuses(store.reader, since),
    store.dataSource().then(schemaVersion),
  ]);
  return { schema: { name: store.schema, version, needed: SCHEMA_VERSION }, since, counts, ...system };
}

function print({ schema, counts, queues, workers, unserved, versions, waiting }: Status, since: string, context: CliContext): void {
  const { terminal } = context;
  const table = <Row>(title: string, rows: readonly Row[], columns: Column<Row>[], none: string) =>
    context.print('', terminal.colours.bold(title), rows.length > 0 ? renderTable(rows, columns, terminal) : none);
  context.print(`Schema "${schema.name}" version ${schema.version} (this package needs ${schema.needed})`);
  const counted = STATUSES.filter((status) => counts[status]);
  table(
    `Executions since ${since}`,
    counted,
    [
      { title: 'STATUS', value: (status) => status, paint: (text, status) => paintStatus(text, status, terminal) },
      { title: 'COUNT', value: (status) => counts[status]!.toLocaleString('en-US') },
    ],
    'none',
  );
  const waits = WAITING_KINDS.flatMap((kind) => (waiting[kind] ? [`${waiting[kind].toLocaleString('en-US')} ${kind}`] : []));
  context.print(`suspended: ${waits.join(', ') || 'none'}`);
  table(
    'Queues',
    queues,
    [
      { title: 'QUEUE', value: ({ queue }) => queue, min: 8 },
      { title: 'WAITING', value: ({ waiting }) => String(waiting) },
      { title: 'RUNNING', value: ({ running }) => String(running), drop: 2 },
      { title: 'SCHEDULED', value: ({ scheduled }) => String(scheduled), drop: 3 },
      { title: 'OLDEST', value: ({ oldestMs }) => (oldestMs === null ? '' : span(oldestMs)), drop: 1 },
      {
        title: 'SERVED BY',
        value: ({ workers: n, waiting }) => (n > 0 ? count(n, 'worker') : waiting > 0 ? 'no worker' : ''),
        paint: (text, { workers: n, waiting }) => (n === 0 && waiting > 0 ? terminal.colours.red(text) : text),
      },
    ],
    'none',
  );
  if (unserved.length > 0) {
    table(
      'Tasks that no running worker has',
      unserved,
      [
        { title: 'TASK', value: ({ task }) => task, min: 8, paint: (text) => terminal.colours.red(text) },
        { title: 'QUEUE', value: ({ queue }) => queue, min: 8 },
        { title: 'WAITING', value: ({ waiting }) => String(waiting) },
        { title: 'OLDEST', value: ({ oldestMs }) => span(oldestMs), drop: 1 },
      ],
      'none',
    );
  }
  table(
    'Workers',
    workers,
    [
      { title: 'WORKER', value: ({ workerId }) => workerId, min: 12 },
      { title: 'QUEUES', value: ({ queues: names }) => names.join(','), min: 8 },
      { title: 'RUNNING', value: ({ running, concurrency }) => `${running}/${concurrency}`, drop: 1 },
      { title: 'HEARTBEAT', value: ({ silentMs }) => `${span(silentMs)} ago`, drop: 2 },
      { title: 'CODE', value: ({ codeVersion }) => codeVersion, drop: 3 },
    ],
    'none',
  );
  table(
    'Workflow versions in use',
    versions,
    [
      { title: 'WORKFLOW', value: ({ name }) => name, min: 8 },
      { title: 'VERSION', value: ({ version }) => version.slice(0, 12) },
      { title: 'RUNS', value: ({ runs }) => runs.toLocaleString('en-US') },
    ],
    'none',
  );
}
