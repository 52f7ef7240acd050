// `rhythm list`: lists executions by any filter, newest first.

import type { Execution } from '../../execution/execution.js';
import type { ListPage } from '../../execution/list-page.js';
import type { CliCommand, CliContext } from '../command.js';
import { addFilters, type FilterFlags, filterOf } from '../filters.js';
import { age, paintStatus, took } from '../format.js';
import { readInteger } from '../read-number.js';
import { type Column, renderTable } from '../table.js';
import { WATCH, watching } from '../watch.js';

interface ListFlags extends FilterFlags {
  all?: boolean;
  limit: string;
  cursor?: string;
  watch?: string | boolean;
}

export const listCommand: CliCommand = (program, context) => {
  addFilters(program.command('list').alias('ls').description('List executions, newest first.'))
    .option('-a, --all', 'include what other executions called: child workflows, and tasks that run, wait or failed')
    .option('--limit <n>', 'rows per page, at most 1000', '50')
    .option('--cursor <cursor>', 'continue with the next page: the cursor that the last page printed')
    .option(...WATCH)
    .addHelpText('after', '\nJSON data: { items: [execution], next? }')
    .addHelpText(
      'after',
      '\nWithout --all or --parent, only executions without a parent are listed; the filters of cancel, pause, resume and retry find the same ones. Completed steps of a workflow are listed with --parent.\n\nExamples:\n  rhythm list --status failed --since 1h\n  rhythm list --name order --status running,suspended --watch\n  rhythm list --all --name send-mail --status failed\n  rhythm list --parent o-1 --json\n  rhythm list --waits-for signal:paid --name order',
    )
    .action(
      context.action((flags: ListFlags) => {
        // Without children, as in the bulk operations: the same filter finds the same executions in both.
        const roots = flags.all || flags.parent !== undefined ? {} : { parentId: null };
        const filter = { ...roots, ...filterOf(flags), limit: readInteger(flags.limit, '--limit', 1, 1_000), cursor: flags.cursor };
        return context.withServices(async ({ executions }) => {
          await watching(context, flags.watch, async () => {
            const page = await executions.list(filter);
            context.report(page, () => print(page, 'parentId' in roots, context));
            return false;
          });
          return undefined;
        });
      }),
    );
};

function print({ items, next }: ListPage, rootsOnly: boolean, context: CliContext): void {
  if (items.length === 0 && next) context.note('No executions match among those that were read; there are older ones.');
  else if (items.length === 0)
    return context.note(`No executions match.${rootsOnly ? ' Executions that others called are listed with --all.' : ''}`);
  else context.print(renderTable(items, columns(context), context.terminal));
  if (next) context.note(`Next page: --cursor ${next}`);
}

function columns({ terminal }: CliContext): Column<Execution>[] {
  return [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name, min: 8 },
    { title: 'STATUS', value: ({ status }) => status, paint: (text, { status }) => paintStatus(text, status, terminal) },
    { title: 'TYPE', value: ({ type }) => type, drop: 4 },
    { title: 'QUEUE', value: ({ queue }) => queue, min: 6, drop: 3 },
    { title: 'AGE', value: ({ createdAt }) => age(createdAt), drop: 1 },
    { title: 'TOOK', value: took, drop: 2 },
    { title: 'DETAILS', value: details, min: 10, drop: 5 },
  ];
}

function details({ error, note, attempts, status, tags }: Execution): string {
  if (error) return `${error.name}: ${error.message}`;
  if (note) return note;
  if (attempts > 0 && status !== 'completed') return `${attempts} failed ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return tags.join(' ');
}
