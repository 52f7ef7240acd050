// The whole program: its flags and its commands in groups, for running and for generating its documentation.

import { Command, Option } from 'commander';
import { DEFAULT_ENGINE_OPTIONS } from '../../libs/engine/index.js';
import type { CliCommand, CliContext, GlobalFlags } from './command.js';
import { activateCommand } from './commands/activate.command.js';
import { benchCommand } from './commands/bench.command.js';
import { checkCommand } from './commands/check.command.js';
import { cleanupCommand } from './commands/cleanup.command.js';
import { completionCommand } from './commands/completion.command.js';
import { doctorCommand } from './commands/doctor.command.js';
import { initCommand } from './commands/init.command.js';
import { listCommand } from './commands/list.command.js';
import { migrateCommand } from './commands/migrate.command.js';
import { runCommand } from './commands/run.command.js';
import { showCommand } from './commands/show.command.js';
import { signalCommand } from './commands/signal.command.js';
import { startCommand } from './commands/start.command.js';
import { statusCommand } from './commands/status.command.js';
import { steerCommands } from './commands/steer.command.js';
import { workerCommand } from './commands/worker.command.js';
import type { CliStreams } from './terminal.js';

/** The commands by what they are for, in the order of the help. */
const GROUPS: Record<string, readonly CliCommand[]> = {
  'Inspect:': [listCommand, showCommand, statusCommand],
  'Control:': [startCommand, signalCommand, ...steerCommands, activateCommand],
  'Flows:': [checkCommand, runCommand],
  'Operations:': [initCommand, workerCommand, migrateCommand, doctorCommand, cleanupCommand, benchCommand, completionCommand],
};

/** What the help says about the answers of every command. */
export const ANSWERS = `Exit codes: 0 ok, 1 the operation failed, 2 wrong usage or configuration, 130 interrupted by Ctrl-C.
With --json, every command prints one JSON document on one line: { "ok", "command", "data" }, or { "ok": false, "command", "error": { "code", "message" } }.`;

/** Builds the program around a context. */
export function buildProgram(streams: CliStreams, context: CliContext): Command {
  const program = new Command('rhythm')
    .description('Durable execution for NestJS on PostgreSQL.')
    .usage('<command> [options]')
    .version(DEFAULT_ENGINE_OPTIONS.codeVersion)
    .option('--database-url <url>', 'the database; overrides RHYTHM_DATABASE_URL and rhythm.toml')
    .addOption(
      new Option('--config [file]', 'use this configuration file instead of searching for one')
        .preset('')
        .argParser((file: string, before?: GlobalFlags['config']) => (file === '' ? { ...before, bare: true } : { ...before, file })),
    )
    .option('--json', 'print the result as one JSON document')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', `\n${ANSWERS}\n\nrhythm help <command> shows the options and examples of a command.`);
  for (const [group, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(group);
    for (const add of commands) add(program, context);
  }
  for (const command of [program, ...program.commands]) {
    command
      .exitOverride()
      .showSuggestionAfterError(true)
      .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20, helpWidth: context.terminal.columns ?? 100 })
      .configureOutput({
        writeOut: (text) => void streams.out.write(text),
        writeErr: (text) => void streams.err.write(text),
        outputError: (text, write) => write(text.replace(/^error:/, context.terminal.colours.red('error:'))),
      });
  }
  return program;
}
