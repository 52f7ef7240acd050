// Stubs for tasks: values from a JSON file, or values and functions from a module.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { didYouMean, listNames } from '../nearest.js';
import { readJsonFile } from './read-json.js';
import { UsageError } from './usage-error.js';

/** A value is the result of every call; a function is called with the input; `{ $throw: { message, code?, data? } }` fails. */
export type Stubs = Record<string, unknown>;

/** Reads a stub file: `.json`, or a module whose default export (or whose exports) are the stubs. */
export async function readStubs(file: string): Promise<Stubs> {
  const full = resolve(file);
  if (!existsSync(full)) throw new UsageError(`--tasks: the file ${full} does not exist.`);
  const stubs = full.endsWith('.json') ? readJsonFile(full, '--tasks') : await importStubs(full);
  if (typeof stubs !== 'object' || stubs === null || Array.isArray(stubs)) {
    throw new UsageError(`--tasks: ${full} does not hold an object of task names.`);
  }
  return stubs as Stubs;
}

/** The result of a stub; throws if there is no stub with this name. */
export async function callStub(stubs: Stubs, name: string, input: unknown): Promise<unknown> {
  if (!Object.hasOwn(stubs, name)) {
    const known = Object.keys(stubs);
    throw new UsageError(
      `The flow calls the task "${name}", which has no stub.${didYouMean(name, known)} Stubs given with --tasks: ${listNames(known)}.`,
    );
  }
  const stub = stubs[name];
  if (typeof stub === 'function') return stub(input);
  if (isThrow(stub)) throw Object.assign(new Error(stub.$throw.message), stub.$throw);
  return stub;
}

function isThrow(stub: unknown): stub is { $throw: { message: string; code?: string; data?: unknown } } {
  return typeof stub === 'object' && stub !== null && Object.hasOwn(stub, '$throw');
}

async function importStubs(full: string): Promise<unknown> {
  const module = (await import(pathToFileURL(full).href)) as { default?: unknown };
  return module.default ?? { ...module };
}
