// Where the program of the process of isolated flows is, and how Node is to run it.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IsolationStartError } from './errors.js';

/** What to start. */
export interface ChildPlace {
  file: string;
  execArgv: readonly string[];
}

// Nothing of the process of isolated flows needs these, so they are closed if there ever is a way out of the virtual machine.
const HARDENED = ['--disallow-code-generation-from-strings', '--no-addons', '--no-warnings'];

/** The program that is published, or in a checkout its TypeScript. */
export function childPlace(): ChildPlace {
  const here = thisFile();
  const isSource = here.endsWith('.ts');
  const file = join(dirname(here), `child-main${isSource ? '.ts' : '.js'}`);
  // The name shows whether this is still a file of ours: a bundler puts all of them into one.
  if (!/^child-place\.[jt]s$/.test(basename(here)) || !existsSync(file))
    throw new IsolationStartError(
      `its program is not at ${file}. If the application is bundled, leave nestjs-rhythm out of the bundle (mark it as external).`,
    );
  const root = join(dirname(here), '..', '..');
  return { file, execArgv: isSource ? typescriptLoader(root) : [...HARDENED, ...permissions(root)] };
}

// A checkout runs without a build.
function typescriptLoader(root: string): string[] {
  return ['--import', createRequire(join(root, 'package.json')).resolve('./scripts/register-typescript.mjs')];
}

// With Node's permission model the process may read its own code and nothing else, write nothing and start nothing but its watchdog.
function permissions(root: string): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  const flag = ['--permission', '--experimental-permission'].find((each) => known.has(each));
  return flag === undefined ? [] : [flag, '--allow-worker', `--allow-fs-read=${join(root, '*')}`];
}

// Neither `import.meta` nor `__filename` exists in both builds, so the place of the call says which file this is.
function thisFile(): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_, sites) => sites[0]?.getFileName() ?? '';
    const file = new Error().stack as string;
    return file.startsWith('file:') ? fileURLToPath(file) : file;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}
