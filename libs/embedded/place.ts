// Where a server's files are: in a folder that the user PostgreSQL runs as can reach.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries.js';
import { canReach, type RunAs } from './run-as.js';

/** The temp folder, or another one if the user of PostgreSQL cannot enter it. */
export function throwawayBase(user: RunAs | undefined): string {
  return [tmpdir(), '/tmp', '/var/tmp'].find((folder) => existsSync(folder) && canReach(folder, user)) ?? tmpdir();
}

/**
 * The folder for a persistent server's files: the given one if it can be reached; otherwise (root's app in a folder closed to
 * others) one under /var/lib, to which the link `elsewhere` in the given folder points. No permissions are changed.
 */
export function persistentPlace(home: string, user: RunAs | undefined): string {
  const link = join(home, 'elsewhere');
  if (existsSync(link)) return realpathSync(link);
  if (canReach(home, user)) return home;
  const base = '/var/lib/rhythm';
  mkdirSync(base, { recursive: true, mode: 0o755 });
  const place = mkdtempSync(join(base, 'embedded-'));
  chmodSync(place, 0o711);
  symlinkSync(place, link);
  return place;
}

/** A new empty folder that belongs to the user PostgreSQL runs as. */
export function ownFolder(path: string, user: RunAs | undefined): string {
  mkdirSync(path, { mode: 0o700 });
  if (user) chownSync(path, user.uid, user.gid);
  return path;
}

/**
 * The folder to run PostgreSQL's programs from: the installed one, or a copy under `place` if its user cannot get there,
 * or if npm ran without install scripts and the links between its libraries are missing.
 */
export function usableBinaries(binaries: Binaries, place: string, user: RunAs | undefined): string {
  const complete = binaries.links.every((link) => existsSync(join(binaries.folder, link.from)));
  if (complete && canReach(join(binaries.folder, 'bin', programName('postgres')), user) && !needsEscaping(binaries.folder)) {
    return binaries.folder;
  }
  const copy = join(place, `postgres-${binaries.version}`);
  if (existsSync(copy)) return copy;
  const draft = mkdtempSync(join(place, 'copying-'));
  // Static libraries are only needed for compiling.
  cpSync(binaries.folder, draft, { recursive: true, verbatimSymlinks: true, filter: (from) => !from.endsWith('.a') });
  for (const { from, to } of binaries.links) {
    if (existsSync(join(draft, from)) || !existsSync(join(draft, to))) continue;
    symlinkSync(to.slice(dirname(to).length + 1), join(draft, from));
  }
  openToAll(draft);
  renameSync(draft, copy);
  return copy;
}

export function programName(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/** initdb passes its own path to a shell in double quotes: a space is fine there, these characters are not. */
export function needsEscaping(path: string): boolean {
  return /["'`$\\!]/.test(path);
}

/** A checkout made with a strict umask cannot be read by others; the copy can. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, folder.endsWith('bin') ? 0o755 : 0o644);
  }
}

/** Removes incomplete copies and data folders of a start that was cut off. Only the holder of the lock may call this. */
export function removeDrafts(place: string): void {
  for (const name of readdirSync(place)) {
    if (/^(copying|making)-/.test(name)) rmSync(join(place, name), { recursive: true, force: true });
  }
}
