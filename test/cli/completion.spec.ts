// Completion, help and version, which all come from the command definitions.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { rhythm } from './spawn-cli.js';

describe('rhythm completion', () => {
  let script: string;
  beforeAll(async () => {
    ({ out: script } = await rhythm(['completion', 'bash']));
  });

  // What bash offers to complete the last word of a line.
  const offered = (...words: string[]) => {
    const line = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _rhythm; echo "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split(' ');
  };

  it('offers commands, then the flags of the command and the global flags', () => {
    expect(offered('rhythm', 'st')).toEqual(['status', 'start']);
    expect(offered('rhythm', 'list', '--st')).toEqual(['--status']);
    expect(offered('rhythm', '--json', 'cleanup', '--')).toEqual(
      expect.arrayContaining(['--older-than', '--batch', '--json', '--database-url']),
    );
  });

  it('offers the values of a flag', () => {
    expect(offered('rhythm', 'list', '--type', '')).toEqual(['task', 'workflow']);
  });

  it('exists for zsh and fish too, and for no other shell', async () => {
    expect((await rhythm(['completion', 'zsh'])).out).toMatch(
      /^#compdef rhythm\n[\s\S]*'list:List executions, newest first'[\s\S]*compdef _rhythm rhythm\n$/,
    );
    expect((await rhythm(['completion', 'fish'])).out).toMatch(
      /complete -c rhythm -n '__fish_seen_subcommand_from list ls' -l type -xa 'task workflow'/,
    );
    expect(await rhythm(['completion', 'tcsh'])).toMatchObject({ code: 2, err: expect.stringContaining('Choose from bash, zsh, fish') });
  });
});

describe('rhythm help', () => {
  it('shows every command in its group, and the exit codes', async () => {
    const { code, out } = await rhythm(['--help']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /Inspect:\n {2}list\|ls[\s\S]*Control:\n {2}start[\s\S]*Flows:\n {2}check[\s\S]*Operations:\n {2}init[\s\S]*Exit codes: 0 ok, 1/,
    );
    expect(await rhythm([])).toMatchObject({ code: 2, err: expect.stringContaining('Usage: rhythm') });
  });

  it('shows the options and examples of one command, within the width of the terminal', async () => {
    const { code, out } = await rhythm(['help', 'retry'], { columns: 60 });
    expect(code).toBe(0);
    expect(out).toMatch(/Global Options:[\s\S]*Examples:\r?\n {2}rhythm retry o-1/);
    const options = out.slice(out.indexOf('Options:'), out.indexOf('JSON data')).split(/\r?\n/);
    expect(Math.max(...options.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await rhythm(['--version'])).toMatchObject({ code: 0, out: `${version}\n` });
  });
});
