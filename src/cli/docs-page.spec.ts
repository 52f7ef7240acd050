// The documentation of the command line matches the command definitions.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { docsPage } from './docs-page.js';

describe('docs/cli.md', () => {
  it('is what `npm run docs:cli` writes', () => {
    expect(readFileSync('docs/cli.md', 'utf8')).toBe(docsPage());
  });

  it('is linked from the README, and the changelog names its commands', () => {
    expect(readFileSync('README.md', 'utf8')).toContain('](docs/cli.md)');
    const added = readFileSync('CHANGELOG.md', 'utf8');
    for (const [, name] of docsPage().matchAll(/^## rhythm (\S+)$/gm)) expect(added).toMatch(new RegExp(`\`${name}[\` ]`));
  });

  it('has a section with an example for every command', () => {
    const commands = [...docsPage().matchAll(/^## rhythm (\S+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
    expect(commands.map(([, name]) => name)).toEqual(expect.arrayContaining(['migrate', 'worker', 'list', 'status', 'show', 'doctor']));
    for (const [, name, text] of commands) {
      // Once as the usage, and at least once as an example.
      expect(text!.split(`rhythm ${name}`).length - 1).toBeGreaterThanOrEqual(2);
    }
  });
});
