// Generates docs/cli.md from the command definitions; a spec compares it with the file.

import { PassThrough } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import type { CliContext } from './command.js';
import { buildProgram, OUTPUT_HELP } from './program.js';
import { terminalOf } from './terminal.js';

/** The page with all commands. */
export function docsPage(): string {
  const program = programWithoutActions();
  return [
    '# The `rhythm` command',
    '',
    '<!-- Generated from the command definitions by `npm run docs:cli`; a spec compares the two. -->',
    '',
    '`npx rhythm <command>` comes with the package. It reads the same settings as the module (see [configuration](configuration.md)).',
    '',
    '## Global flags',
    '',
    ...table(['flag', 'meaning'], program.options.map(optionRow)),
    '',
    'They can be given before or after the name of the command.',
    '',
    ...OUTPUT_HELP.split('\n').flatMap((line) => [line, '']),
    'Tables fit the terminal: in a narrow one, less important columns are left out. Output to a pipe is complete and has no colours. `NO_COLOR`, `FORCE_COLOR` and `COLUMNS` are respected. Passwords are never printed, and control characters in names, tags, logs and messages are written as escapes (`\\x1b`, `\\n`), with `--json` as JSON escapes.',
    '',
    '## Commands',
    '',
    '| command | what it does |',
    '|---|---|',
    ...program.commands.map((command) => `| [\`${command.name()}\`](#rhythm-${command.name()}) | ${cell(command.description())} |`),
    '',
    ...program.commands.flatMap(section),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function programWithoutActions(): Command {
  const streams = { out: new PassThrough(), err: new PassThrough(), env: {} };
  const context = { terminal: terminalOf(streams), flags: {}, action: () => async () => {} } as unknown as CliContext;
  return buildProgram(streams, context);
}

function section(command: Command): string[] {
  const usage = `rhythm ${command.name()} ${command.usage()}`;
  const own = command.options;
  return [
    `## rhythm ${command.name()}`,
    '',
    command.description(),
    '',
    '```sh',
    usage.trim(),
    '```',
    '',
    ...(command.registeredArguments.length > 0
      ? [...table(['argument', 'meaning'], command.registeredArguments.map(argumentRow)), '']
      : []),
    ...(own.length > 0 ? [...table(['flag', 'meaning'], own.map(optionRow)), ''] : []),
    ...helpAfter(command),
  ];
}

// The part of the help after the options: remarks, and the examples as a code block.
function helpAfter(command: Command): string[] {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  const after = help.slice(command.helpInformation().length).trim();
  const [before, examples] = after.split(/\n?Examples?:\n/);
  const block = examples ? ['```sh', ...examples.split('\n').map((line) => line.trim()), '```', ''] : [];
  const remarks = before!.trim().replace(/^JSON data: (.*)$/m, 'With `--json`, `data` is `$1`.');
  return [...(remarks ? [remarks, ''] : []), ...block];
}

function table(head: [string, string], rows: [string, string][]): string[] {
  return [`| ${head.join(' | ')} |`, '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)];
}

function optionRow({ flags, description, defaultValue, argChoices }: Option): [string, string] {
  const choices = argChoices ? ` (${argChoices.join(', ')})` : '';
  const fallback = defaultValue === undefined ? '' : `; default \`${String(defaultValue)}\``;
  return [`\`${flags}\``, cell(description + choices) + fallback];
}

function argumentRow(argument: Argument): [string, string] {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  const fallback = argument.defaultValue === undefined ? '' : `; default \`${String(argument.defaultValue)}\``;
  return [`\`${argument.required ? `<${name}>` : `[${name}]`}\``, cell(argument.description) + fallback];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<');
}
