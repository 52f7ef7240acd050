// The links and commands in the documents exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

describe('the documents', () => {
  it.each(documentsIn(ROOT))('%s links only to files that exist', (name) => {
    const text = readFileSync(join(ROOT, name), 'utf8').replace(/```[\s\S]*?```/g, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^([a-z]+:|#)/.test(link));
    const broken = links.filter((link) => !existsSync(join(ROOT, dirname(name), link.split('#')[0] ?? '')));
    expect(broken).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const mentioned = documentsIn(ROOT).flatMap((name) => [...readFileSync(join(ROOT, name), 'utf8').matchAll(/npm run ([\w:]+)/g)]);
    expect([...new Set(mentioned.map(([, script = '']) => script))].filter((script) => !(script in scripts))).toEqual([]);
    const files = Object.values(scripts).flatMap((script) => script.match(/\S+\.mjs/g) ?? []);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

function documentsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.git'].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return documentsIn(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}
