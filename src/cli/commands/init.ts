// `rhythm init`: writes a working project into a folder, and never overwrites a file.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { CliCommand } from '../command.js';
import { PACKAGE, STARTER_PACKAGES, starterFiles } from '../starter-files.js';
import { UsageError } from '../usage-error.js';

export const initCommand: CliCommand = (program, context) => {
  program
    .command('init')
    .description('Create a working project: a Nest module, a task, a flow and rhythm.toml. Existing files are kept.')
    .argument('[folder]', 'the folder to create it in', '.')
    .option('--package <spec>', 'where npm finds nestjs-rhythm, if not in its registry: file:../nestjs-rhythm-0.1.0.tgz, a URL, a version')
    .addHelpText('after', '\nJSON data: { folder, written, kept, next }')
    .addHelpText('after', '\nExamples:\n  rhythm init my-app\n  rhythm init\n  rhythm init my-app --package file:./nestjs-rhythm-0.1.0.tgz')
    .action(
      context.action((folder: string, flags: { package?: string }) => {
        const home = resolve(folder);
        const source = flags.package === undefined ? undefined : packageSource(flags.package, home);
        const files = starterFiles(packageName(home), source);
        const kept = Object.keys(files).filter((file) => existsSync(join(home, file)));
        const written = Object.keys(files).filter((file) => !kept.includes(file));
        for (const file of written) {
          mkdirSync(dirname(join(home, file)), { recursive: true });
          writeFileSync(join(home, file), files[file]!);
        }
        const next = nextSteps(folder, kept.includes('package.json'), source);
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

// npm takes a path in package.json as relative to it, and the flag is relative to the working directory.
function packageSource(given: string, home: string): string {
  if (given.trim() === '') throw new UsageError('--package is empty. Give e.g. file:../nestjs-rhythm-0.1.0.tgz.');
  if (!given.startsWith('file:')) return given;
  const path = resolve(given.slice('file:'.length));
  if (!existsSync(path)) throw new UsageError(`--package: ${path} does not exist. Give the package, or the folder of it.`);
  return `file:${relative(home, path).split(sep).join('/')}`;
}

function nextSteps(folder: string, ownPackage: boolean, source: string | undefined): string[] {
  const { develop } = STARTER_PACKAGES;
  const run = STARTER_PACKAGES.run.map((name) => (name === PACKAGE && source !== undefined ? `${name}@${source}` : name));
  return [
    ...(resolve(folder) === resolve('.') ? [] : [`cd ${folder}`]),
    ...(ownPackage ? [`npm install ${run.join(' ')}`, `npm install -D ${develop.join(' ')}`] : ['npm install']),
    'npx tsc -p .',
    'npx rhythm worker dist/app.module.js',
    `npx rhythm start greeting --input '{"name":"Ada"}' --wait     # in a second terminal`,
  ];
}
