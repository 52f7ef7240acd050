// The links and commands in the documents exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
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

  // People read them on npm and in node_modules, where nothing else of the repository is.
  it.each(publishedDocuments())('%s, which is published, links only to files that are', (name) => {
    const text = readFileSync(join(ROOT, name), 'utf8').replace(/```[\s\S]*?```/g, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^([a-z]+:|#)/.test(link));
    const dead = links.filter((link) => !isPublished(normalize(join(dirname(name), link.split('#')[0] ?? ''))));
    expect(dead).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const mentioned = documentsIn(ROOT).flatMap((name) => [...readFileSync(join(ROOT, name), 'utf8').matchAll(/npm run ([\w:]+)/g)]);
    expect([...new Set(mentioned.map(([, script = '']) => script))].filter((script) => !(script in scripts))).toEqual([]);
    const files = Object.values(scripts).flatMap((script) => script.match(/\S+\.mjs/g) ?? []);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

function publishedDocuments(): string[] {
  return documentsIn(ROOT).filter(isPublished);
}

// By the patterns of package.json; npm adds README and LICENSE. A link to a folder of published files is fine.
function isPublished(path: string): boolean {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
  return [...files, 'README.md', 'LICENSE'].some((pattern) => {
    const escaped = pattern.replace(/[.]/g, '\\.').replaceAll('*', '[^/]*');
    return new RegExp(`^${escaped}$`).test(path) || dirname(pattern) === path;
  });
}

function documentsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.git'].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return documentsIn(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}
