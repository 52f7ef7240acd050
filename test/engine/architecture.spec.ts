// ARCHITECTURE.md names files that exist, and the walk of one execution stays short.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const TEXT = readFileSync('ARCHITECTURE.md', 'utf8');
const FILE = /`([\w./-]+\.(?:ts|mjs))`/g;
const MOST_FILES = 25;

const namesIn = (text: string) => [...text.matchAll(FILE)].map(([, name]) => name);

describe('ARCHITECTURE.md', () => {
  const files = ['libs', 'migrations', 'scripts', 'src', 'test'].flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  );

  it('names only files that exist', () => {
    const names = [...new Set(namesIn(TEXT))];
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
  });

  it(`leads one execution through ${MOST_FILES} files at most`, () => {
    const [, walk] = /## The walk of one execution([\s\S]*?)\n## /.exec(TEXT) as RegExpExecArray;
    const steps = [...walk.matchAll(/^\d+\. \*\*\w+\*\* \(([^)]*)\)/gm)].map(([, list]) => list);
    expect(steps.length).toBeGreaterThan(6);
    const walked = new Set(steps.flatMap(namesIn));
    expect(walked.size).toBeLessThanOrEqual(MOST_FILES);
    expect(TEXT).toContain(`The execution passes through ${walked.size} files`);
  });
});
