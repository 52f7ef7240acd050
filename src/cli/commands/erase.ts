// `rhythm erase`: erases everything that is stored of a run, or of all runs with a tag.

import { type CliCommand, EXIT } from '../command.js';
import { count } from '../format.js';
import { UsageError } from '../usage-error.js';

interface EraseFlags {
  tag?: string;
  yes?: boolean;
}

export const eraseCommand: CliCommand = (program, context) => {
  program
    .command('erase')
    .description('Erase everything that is stored of executions that have ended: a subject asked for it. Their ids may be used again.')
    .argument('[id]', 'the execution; or give --tag')
    .option('--tag <tag>', 'every execution with this tag')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nJSON data: { executions, tombstones, snapshots, snapshotsLeft }')
    .addHelpText(
      'after',
      '\nInputs, results, errors, signals, steps, history, logs and states go, with everything that was called. Nothing is erased while one of the executions has not ended: cancel it first. A state in a snapshot store is removed by a worker that has the store, within minutes. Backups and the logs of your application are not changed.\n\nExamples:\n  rhythm erase o-1\n  rhythm erase --tag customer-4711 --yes',
    )
    .action(
      context.action((id: string | undefined, flags: EraseFlags) => {
        if ((id === undefined) === (flags.tag === undefined)) throw new UsageError('Give an id or --tag, and not both.');
        const target = id ?? { tag: flags.tag as string };
        const what = id === undefined ? `every execution with the tag "${flags.tag}"` : `execution "${id}"`;
        return context.withServices(async ({ executions }) => {
          if (!(await context.confirm(`Erase ${what}, with everything stored for it? This cannot be undone.`, flags.yes))) {
            context.note('Nothing was erased.');
            return EXIT.failed;
          }
          const erased = await executions.erase(target);
          return context.report(erased, () => {
            const states =
              erased.snapshotsLeft > 0 ? ` A worker removes ${count(erased.snapshotsLeft, 'state')} from the snapshot store.` : '';
            if (id === undefined && erased.executions + erased.tombstones === 0)
              return context.note(`Nothing is stored with the tag "${flags.tag}". Check its spelling.`);
            context.note(`Erased ${count(erased.executions, 'execution')} and ${count(erased.tombstones, 'tombstone')}.${states}`);
          });
        });
      }),
    );
};
