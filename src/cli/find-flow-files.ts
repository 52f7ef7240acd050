// Finds .flow files: by name, in folders, and by pattern.

import { readdirSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { UsageError } from './usage-error.js';

/** The flows that the given paths select, sorted and without duplicates. */
export function findFlowFiles(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const files = filesOf(path);
    if (files.length === 0) throw new UsageError(`No .flow file matches "${path}".`);
    for (const file of files) found.add(file);
  }
  return [...found].sort();
}

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return [normalize(path)];
  if (stat?.isDirectory()) return flowsIn(path);
  if (!/[*?[{]/.test(path)) throw new UsageError(`${path} does not exist.`);
  const pattern = toPattern(normalize(path));
  return flowsIn(folderWithoutWildcards(path)).filter((file) => pattern.test(file));
}

function flowsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.flow') && !file.split(/[\\/]/).includes('node_modules'))
    .map((file) => normalize(join(folder, file)));
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
