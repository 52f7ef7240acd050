// Which files of a folder are flows, and what is refused: links out of it, loops, pipes, folders.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../cli/run-cli.js';
import { flowFilesIn } from './flow-files.js';
import { readFlows } from './flow-source.js';

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rhythm-flows-'));
  folder = join(base, 'flows');
  mkdirSync(join(folder, 'sub'), { recursive: true });
  writeFileSync(join(folder, 'a.flow'), 'return 1');
  writeFileSync(join(folder, 'sub', 'b.flow'), 'return 2');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function rhythm(...args: string[]): Promise<{ code: number; err: string }> {
  const err = new PassThrough({ encoding: 'utf8' });
  const code = await runCli(args, { out: new PassThrough(), err, env: {} });
  return { code, err: err.read() ?? '' };
}

describe('the flows of a folder', () => {
  it('are its plain files, below it too, and those that Kubernetes links inside a ConfigMap, once', () => {
    mkdirSync(join(folder, '..2026_11_19'));
    writeFileSync(join(folder, '..2026_11_19', 'mounted.flow'), 'return 3');
    symlinkSync('..2026_11_19', join(folder, '..data'));
    symlinkSync('..data/mounted.flow', join(folder, 'mounted.flow'));
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'node_modules', 'x.flow'), '');
    expect(flowFilesIn(folder)).toEqual(['a.flow', 'mounted.flow', join('sub', 'b.flow')]);
    expect(readFlows([folder], 'flows').map(({ name }) => name)).toEqual(['a', 'mounted', 'sub/b']);
  });

  it('do not include what a link to a folder leads to, so that a loop ends', async () => {
    symlinkSync('..', join(folder, 'sub', 'up'));
    expect(flowFilesIn(folder)).toEqual(['a.flow', join('sub', 'b.flow')]);
    expect(await rhythm('check', folder)).toEqual({ code: 0, err: 'No errors in 2 files.\n' });
  });

  it.each<[string, () => void, RegExp]>([
    [
      'a link out of the folder',
      () => {
        writeFileSync(join(base, 'secret'), 'password');
        symlinkSync('../secret', join(folder, 'x.flow'));
      },
      /x\.flow is a link to .*secret, outside of the folder/,
    ],
    ['a link to itself', () => symlinkSync('x.flow', join(folder, 'x.flow')), /x\.flow is a link that leads back to itself/],
    ['a link to nothing', () => symlinkSync('gone', join(folder, 'x.flow')), /x\.flow is a link that leads nowhere/],
    ['a pipe', () => void execFileSync('mkfifo', [join(folder, 'x.flow')]), /x\.flow is a pipe, not a file/],
    ['a folder', () => mkdirSync(join(folder, 'x.flow')), /x\.flow is a folder, not a file/],
  ])('are refused with %s among them', async (_, make, message) => {
    make();
    expect(() => readFlows([folder], 'flows')).toThrow(
      expect.objectContaining({ code: 'RHYTHM_FLOW_SOURCE', message: expect.stringMatching(message) }),
    );
    expect(await rhythm('check', folder)).toEqual({ code: 2, err: expect.stringMatching(message) });
    const run = await rhythm('run', join(folder, 'x.flow'));
    // A link that was named is followed; this one is no flow.
    expect(run.code).not.toBe(0);
    expect(run.err).toMatch(/^error: |FLOW_/);
  });
});
