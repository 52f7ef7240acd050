// Finds the .flow files of a folder: plain files only, so that no link, pipe or loop is read as a flow.

import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A file that is called .flow and cannot be one. */
export class NotAFlowError extends Error {
  override readonly name = 'NotAFlowError';
}

/**
 * The .flow files of a folder and its subfolders, as paths relative to it, sorted. Links to folders are not followed (they may lead
 * back), nor are folders that begin with a dot (such as those that Kubernetes keeps the files of a ConfigMap in) or `node_modules`.
 */
export function flowFilesIn(folder: string): string[] {
  const root = realpathSync(folder);
  const found: string[] = [];
  const walk = (inside: string) => {
    for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
      const path = join(inside, entry.name);
      const isFlow = entry.name.endsWith('.flow') && entry.name !== '.flow';
      if (isFlow) {
        checkFlowFile(join(folder, path), root);
        found.push(path);
      } else if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules') walk(path);
    }
  };
  walk('');
  return found.sort();
}

/** Throws a `NotAFlowError` unless the path is a file; with `root`, it must not be a link that leads out of that folder. */
export function checkFlowFile(path: string, root?: string): void {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ELOOP' && code !== 'ENOENT') throw error;
    throw new NotAFlowError(`${path} is a link that ${code === 'ELOOP' ? 'leads back to itself' : 'leads nowhere'}. Remove it.`);
  }
  if (root !== undefined && real !== root && !real.startsWith(root + sep)) {
    throw new NotAFlowError(`${path} is a link to ${real}, outside of the folder. Give that file by itself, or copy it.`);
  }
  const stat = statSync(real);
  if (stat.isFile()) return;
  const kind = stat.isDirectory() ? 'a folder' : stat.isFIFO() ? 'a pipe' : stat.isSocket() ? 'a socket' : 'a device';
  throw new NotAFlowError(`${path} is ${kind}, not a file. Rename it, or give the files one by one.`);
}
