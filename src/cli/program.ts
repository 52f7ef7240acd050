// The whole program: its flags and its groups of commands, for running and for generating the documentation.

import { Command, Option } from 'commander';
import { DEFAULT_ENGINE_OPTIONS } from '../../libs/engine/index.js';
import { maskUrlsIn } from '../config/mask-url.js';
import type { CliCommand, CliContext, GlobalFlags } from './command.js';
import { activateCommand } from './commands/activate.js';
import { benchCommand } from './commands/bench.js';
import { checkCommand } from './commands/check.js';
import { cleanupCommand } from './commands/cleanup.js';
import { completionCommand } from './commands/completion.js';
import { controlCommands } from './commands/control.js';
import { doctorCommand } from './commands/doctor.js';
import { eraseCommand } from './commands/erase.js';
import { initCommand } from './commands/init.js';
import { listCommand } from './commands/list.js';
import { migrateCommand } from './commands/migrate.js';
import { restartCommand } from './commands/restart.js';
import { runCommand } from './commands/run.js';
import { showCommand } from './commands/show.js';
import { signalCommand } from './commands/signal.js';
import { startCommand } from './commands/start.js';
import { statusCommand } from './commands/status.js';
import { waitingCommand } from './commands/waiting.js';
import { workerCommand } from './commands/worker.js';
import { line, visibleLines } from './output.js';
import type { CliStreams } from './terminal.js';

/** The commands by purpose, in the order of the help. */
const GROUPS: Record<string, readonly CliCommand[]> = {
  'Inspect:': [listCommand, showCommand, statusCommand, waitingCommand],
  'Control:': [startCommand, signalCommand, ...controlCommands, restartCommand, activateCommand],
  'Flows:': [checkCommand, runCommand],
  'Operations:': [initCommand, workerCommand, migrateCommand, doctorCommand, cleanupCommand, eraseCommand, benchCommand, completionCommand],
};

/** The part of the help about exit codes and --json. */
export const OUTPUT_HELP = `Exit codes: 0 ok, 1 the operation failed, 2 wrong usage or configuration, 3 the database cannot be reached, 130 interrupted by Ctrl-C.
With --json, every command prints one JSON document on one line: { "ok", "command", "data" }, or { "ok": false, "command", "error": { "code", "message" } }.`;

/** Builds the program; its commands use the context. */
export function buildProgram(streams: CliStreams, context: CliContext): Command {
  const program = new Command('rhythm')
    .description('Durable execution for NestJS on PostgreSQL.')
    .usage('<command> [options]')
    .version(DEFAULT_ENGINE_OPTIONS.codeVersion)
    .option('--database-url <url>', 'the database; overrides RHYTHM_DATABASE_URL and rhythm.toml')
    .addOption(
      new Option('--config [file]', 'use this configuration file instead of searching for one')
        .preset('')
        .argParser((file: string, earlier?: GlobalFlags['config']) => (file === '' ? { ...earlier, bare: true } : { ...earlier, file })),
    )
    .option('--json', 'print the result as one JSON document')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', `\n${OUTPUT_HELP}\n\nrhythm help <command> shows the options and examples of a command.`);
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
        outputError: (text) => {
          const [, message = '', suggestion = ''] = /^(?:error: )?(.*?)(\n\(Did you mean .*\))?\s*$/s.exec(text) ?? [];
          context.note(line`${context.terminal.colours.red('error:')} ${maskUrlsIn(message)}`, ...visibleLines(suggestion).slice(1));
        },
      });
  }
  return program;
}
