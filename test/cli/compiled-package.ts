// Compiles the package once per version of the sources, so that a spec can start the `rhythm` command dozens of times.

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SWC = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
const CACHE = join(ROOT, 'node_modules/.cache/rhythm-cli');
const KEEP_MS = 3_600_000;

/** The folder that holds the compiled `src`, `libs` and `migrations`. */
export function compiledPackage(): string {
  const sources = ['src', 'libs', 'migrations'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => join(room, file)),
  );
  const hash = createHash('sha256');
  const texts = sources.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
  for (const [file, text] of texts) hash.update(`${file}\0${text}\0`);
  const folder = join(CACHE, hash.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    // Several specs may do this at the same time: each writes a draft, and the first one to finish renames it.
    const draft = join(CACHE, `draft-${randomBytes(4).toString('hex')}`);
    for (const [file, text] of texts) write(join(draft, file.replace(/\.ts$/, '.js')), compile(file, text));
    write(join(draft, 'package.json'), '{"name":"nestjs-rhythm","type":"module","exports":"./src/index.js"}');
    try {
      renameSync(draft, folder);
    } catch {
      rmSync(draft, { recursive: true });
    }
    removeOld(folder);
  }
  return folder;
}

function compile(file: string, text: string): string {
  return transformSync(text, { ...SWC, filename: file, swcrc: false }).code;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function removeOld(present: string): void {
  for (const name of readdirSync(CACHE)) {
    const folder = join(CACHE, name);
    const old = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > KEEP_MS;
    if (folder !== present && old) rmSync(folder, { recursive: true, force: true });
  }
}
