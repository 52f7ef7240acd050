// `rhythm activate`: makes a stored version of a workflow current, or lists the versions.

import { UnknownNameError } from '../../errors.js';
import type { WorkflowVersion } from '../../flows/definition.service.js';
import { didYouMean, listNames } from '../../nearest.js';
import type { CliCommand, CliContext } from '../command.js';
import { age } from '../format.js';
import type { CliServices } from '../services.js';
import { renderTable } from '../table.js';

export const activateCommand: CliCommand = (program, context) => {
  program
    .command('activate')
    .description(
      'Make a stored version of a workflow current. Processes that have not loaded the flow start the current version. Without a version, list them.',
    )
    .argument('<name>', 'the workflow')
    .argument('[version]', 'its hash, or at least its first 7 characters')
    .addHelpText(
      'after',
      '\nJSON data: { name, version, current }, without a version { versions: [{ name, version, file, current, createdAt }] }',
    )
    .addHelpText('after', '\nExamples:\n  rhythm activate order\n  rhythm activate order 3f2a9c1')
    .action(
      context.action((name: string, version: string | undefined) =>
        context.withServices(async (services) => {
          if (version === undefined) return show(await versionsOf(services, name), context);
          const current = await services.definitions.activate(name, version);
          return context.report({ name, version: current.version, current: true }, () =>
            context.note(`Version ${current.version.slice(0, 12)} of "${name}" is now current. Existing runs keep theirs.`),
          );
        }),
      ),
    );
};

async function versionsOf({ definitions }: CliServices, name: string): Promise<WorkflowVersion[]> {
  const versions = await definitions.versions(name);
  if (versions.length > 0) return versions;
  const known = [...new Set((await definitions.versions()).map((each) => each.name))];
  throw new UnknownNameError(
    'workflow',
    name,
    known,
    `No workflow is named "${name}".${didYouMean(name, known)} Workflows in the database: ${listNames(known)}.`,
  );
}

function show(versions: readonly WorkflowVersion[], context: CliContext): number {
  const data = versions.map(({ name, version, file, current, createdAt }) => ({ name, version, file, current, createdAt }));
  return context.report({ versions: data }, () =>
    context.print(
      renderTable(
        data,
        [
          { title: 'VERSION', value: ({ version }) => version.slice(0, 12) },
          { title: 'CURRENT', value: ({ current }) => (current ? 'current' : ''), paint: context.terminal.colours.green },
          { title: 'STORED', value: ({ createdAt }) => `${age(createdAt)} ago`, drop: 1 },
          { title: 'FILE', value: ({ file }) => file ?? '', min: 10, drop: 2 },
        ],
        context.terminal,
      ),
    ),
  );
}
