// Finds .flow files: by name, in folders, and by pattern.

import { lstatSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { checkFlowFile, flowFilesIn, NotAFlowError } from '../flows/flow-files.js';
import { UsageError } from './usage-error.js';

/** The flows that the given paths select, sorted and without duplicates. */
export function findFlowFiles(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const files = asUsage(() => filesOf(path));
    if (files.length === 0) throw new UsageError(`No .flow file matches "${path}".`);
    for (const file of files) found.add(file);
  }
  return [...found].sort();
}

/** Runs `work`; a file that cannot be a flow, or a link that cannot be followed, is wrong usage. */
export function asUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isLoop = (error as NodeJS.ErrnoException).code === 'ELOOP';
    if (error instanceof NotAFlowError || isLoop) throw new UsageError((error as Error).message);
    throw error;
  }
}

function filesOf(path: string): string[] {
  if (lstatSync(path, { throwIfNoEntry: false })) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return flowsIn(path);
    checkFlowFile(path);
    return [normalize(path)];
  }
  if (!/[*?[{]/.test(path)) throw new UsageError(`${path} does not exist.`);
  const pattern = toPattern(normalize(path));
  return flowsIn(folderWithoutWildcards(path)).filter((file) => pattern.test(file));
}

function flowsIn(folder: string): string[] {
  return flowFilesIn(folder).map((file) => normalize(join(folder, file)));
}

// The folder above the first wildcard: only this folder needs to be read.
function folderWithoutWildcards(pattern: string): string {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => /[*?[{]/.test(part));
  return parts.slice(0, first).join('/') || (pattern.startsWith('/') ? '/' : '.');
}

// `**/` matches any folders, `*` within a name, `?` one character, `{a,b}` either.
function toPattern(glob: string): RegExp {
  const source = glob.replace(/\*\*\/|\*\*|\*|\?|\{[^}]*\}|[.+^$()|[\]\\]/g, (part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.startsWith('{'))
      return `(?:${part
        .slice(1, -1)
        .split(',')
        .map((word) => word.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
        .join('|')})`;
    return `\\${part}`;
  });
  return new RegExp(`^${source}$`);
}
