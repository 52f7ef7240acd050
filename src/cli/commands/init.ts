// `rhythm init`: writes a working project into a folder, and never overwrites a file.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { CliCommand } from '../command.js';
import { STARTER_PACKAGES, starterFiles } from '../starter-files.js';

export const initCommand: CliCommand = (program, context) => {
  program
    .command('init')
    .description('Create a working project: a Nest module, a task, a flow and rhythm.toml. Existing files are kept.')
    .argument('[folder]', 'the folder to create it in', '.')
    .addHelpText('after', '\nJSON data: { folder, written, kept, next }')
    .addHelpText('after', '\nExamples:\n  rhythm init my-app\n  rhythm init')
    .action(
      context.action((folder: string) => {
        const home = resolve(folder);
        const files = starterFiles(packageName(home));
        const kept = Object.keys(files).filter((file) => existsSync(join(home, file)));
        const written = Object.keys(files).filter((file) => !kept.includes(file));
        for (const file of written) {
          mkdirSync(dirname(join(home, file)), { recursive: true });
          writeFileSync(join(home, file), files[file]!);
        }
        const next = nextSteps(folder, kept.includes('package.json'));
        return context.report({ folder: home, written, kept, next }, () => {
          for (const file of written) context.print(`written  ${relative('.', join(home, file))}`);
          for (const file of kept) context.print(`kept     ${relative('.', join(home, file))}`);
          context.note('', 'Next:', ...next.map((step) => `  ${step}`));
        });
      }),
    );
};

function packageName(home: string): string {
  const name = basename(home)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  return name || 'app';
}

function nextSteps(folder: string, ownPackage: boolean): string[] {
  const { run, develop } = STARTER_PACKAGES;
  return [
    ...(resolve(folder) === resolve('.') ? [] : [`cd ${folder}`]),
    ...(ownPackage ? [`npm install ${run.join(' ')}`, `npm install -D ${develop.join(' ')}`] : ['npm install']),
    'npx tsc -p .',
    'npx rhythm worker dist/app.module.js',
    `npx rhythm start greeting --input '{"name":"Ada"}' --wait     # in a second terminal`,
  ];
}
