// `rhythm cleanup`: removes executions that ended long ago, in small batches, and never a tree in which one has not ended.

import { setImmediate } from 'node:timers/promises';
import {
  countEnded,
  countOrphanSignals,
  type EndedFilter,
  type EndedPlace,
  findEnded,
  removeExecutions,
  removeOrphanSignals,
  retrying,
} from '../../../libs/store/index.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import { ENDED, readStatuses, readTime } from '../filters.js';
import { count } from '../format.js';
import { Progress } from '../progress.js';
import { readInteger } from '../read-number.js';
import type { CliServices } from '../services.js';

interface CleanupFlags {
  olderThan: string;
  status: string;
  batch: string;
  dryRun?: boolean;
  yes?: boolean;
}

export const cleanupCommand: CliCommand = (program, context) => {
  program
    .command('cleanup')
    .description(
      'Remove executions that ended long ago, with everything they called. An execution is kept while anything that it called has not ended.',
    )
    .requiredOption('--older-than <time>', 'ended more than 30d, 12h, … ago, or before a date')
    .option('--status <list>', 'only these statuses: completed, failed, cancelled', ENDED.join(','))
    .option('--batch <n>', 'runs removed per statement; small batches disturb the workers less', '200')
    .option('--dry-run', 'only show how many there are')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nJSON data: { matched, removed, kept, signals }')
    .addHelpText(
      'after',
      '\nIt is safe to interrupt this command and to run it again: each batch is a separate transaction. Signals that have waited as long for an id under which no workflow was started are removed too, unless --status selects only some executions.\n\nExamples:\n  rhythm cleanup --older-than 30d\n  rhythm cleanup --older-than 7d --status completed --yes',
    )
    .action(
      context.action((flags: CleanupFlags) => {
        const filter = { endedBefore: readTime(flags.olderThan, '--older-than'), statuses: readStatuses(flags.status, ENDED) };
        const batch = readInteger(flags.batch, '--batch', 1, 10_000);
        return context.withServices((services) => clean(services, filter, batch, flags, context));
      }),
    );
};

async function clean(
  { store }: CliServices,
  filter: EndedFilter,
  batch: number,
  flags: CleanupFlags,
  context: CliContext,
): Promise<number> {
  const total = await countEnded(store.db, filter);
  const what = `${count(total, 'execution')} that ended before ${filter.endedBefore.toISOString()} (${filter.statuses.join(', ')})`;
  // A signal has no status: with only some statuses selected, signals are kept.
  const orphans = filter.statuses.length === ENDED.length ? await countOrphanSignals(store.db, filter.endedBefore) : 0;
  const orphaned = orphans > 0 ? `, and ${count(orphans, 'signal')} to ids under which no workflow was started` : '';
  if (flags.dryRun || total + orphans === 0) {
    return context.report({ matched: total, removed: 0, kept: 0, signals: 0 }, () => context.note(`${what}${orphaned}.`));
  }
  if (!(await context.confirm(`Remove ${what}, with everything they called${orphaned}?`, flags.yes))) {
    context.note('Nothing was removed.');
    return EXIT.failed;
  }
  const progress = new Progress(context, 'cleanup', total);
  let removed = 0;
  let matched = 0;
  let matchedRemoved = 0;
  let place: EndedPlace | undefined;
  while (!context.interrupted.aborted) {
    const found = await findEnded(store.db, filter, batch, place);
    if (found.length === 0) break;
    place = found.at(-1);
    const ids = found.map(({ id }) => id);
    const removedIds = new Set(await retrying(() => removeExecutions(store.db, ids, { skipHeld: true })));
    removed += removedIds.size;
    matchedRemoved += ids.filter((id) => removedIds.has(id)).length;
    matched += ids.length;
    progress.add(ids.length);
    await setImmediate();
  }
  progress.end();
  let signals = 0;
  for (let batchRemoved = orphans; batchRemoved > 0 && !context.interrupted.aborted; signals += batchRemoved) {
    batchRemoved = await removeOrphanSignals(store.db, filter.endedBefore, batch);
  }
  const kept = matched - matchedRemoved;
  return context.report({ matched, removed, kept, signals }, () =>
    context.note(
      `Removed ${count(matchedRemoved, 'run')} (${count(removed, 'row')} with their steps).${kept > 0 ? ` ${count(kept, 'run')} kept: something they called has not ended, or a start in an open transaction returned them.` : ''}${signals > 0 ? ` Removed ${count(signals, 'signal')} to ids under which no workflow was started.` : ''}`,
    ),
  );
}
