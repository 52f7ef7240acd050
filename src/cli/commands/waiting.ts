// `rhythm waiting`: counts what runs wait for, by workflow version and source line.

import type { WaitingCount } from '../../../libs/store/index.js';
import type { CliCommand, CliContext } from '../command.js';
import { readInteger } from '../read-number.js';
import { type Column, renderTable } from '../table.js';
import { WATCH, watching } from '../watch.js';

interface WaitingFlags {
  workflowVersion?: string;
  limit: string;
  watch?: string | boolean;
}

export const waitingCommand: CliCommand = (program, context) => {
  program
    .command('waiting')
    .description('Count what suspended runs wait for, by workflow version and source line.')
    .argument('[workflow]', 'only runs of this workflow')
    .option('--workflow-version <version>', 'only runs of this version')
    .option('--limit <n>', 'rows, at most 10000', '50')
    .option(...WATCH)
    .addHelpText('after', '\nJSON data: [{ workflow, version, kind, name, line, function, runs }]')
    .addHelpText(
      'after',
      '\nA run that waits for several things is counted at each of them. The runs themselves: rhythm list --waits-for.\n\nExamples:\n  rhythm waiting\n  rhythm waiting order\n  rhythm waiting order --json',
    )
    .action(
      context.action((workflow: string | undefined, { workflowVersion: version, limit, watch }: WaitingFlags) => {
        const options = {
          ...(workflow === undefined ? {} : { workflow }),
          ...(version === undefined ? {} : { version }),
          limit: readInteger(limit, '--limit', 1, 10_000),
        };
        return context.withServices(async ({ executions }) => {
          await watching(context, watch, async () => {
            const counts = await executions.waiting(options);
            context.report(counts, () => print(counts, context));
            return false;
          });
          return undefined;
        });
      }),
    );
};

function print(counts: readonly WaitingCount[], context: CliContext): void {
  if (counts.length === 0) return context.note('No run waits for anything.');
  context.print(renderTable(counts, COLUMNS, context.terminal));
}

const COLUMNS: Column<WaitingCount>[] = [
  { title: 'WORKFLOW', value: ({ workflow }) => workflow, min: 8 },
  { title: 'VERSION', value: ({ version }) => version.slice(0, 12), drop: 2 },
  { title: 'LINE', value: ({ line }) => (line === null ? '' : String(line)) },
  { title: 'FUNCTION', value: (row) => row.function ?? '', drop: 1 },
  { title: 'WAITS FOR', value: ({ kind, name }) => (name === '' ? kind : `${kind} ${name}`), min: 10 },
  { title: 'RUNS', value: ({ runs }) => runs.toLocaleString('en-US') },
];
