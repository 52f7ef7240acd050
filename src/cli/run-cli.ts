// Reads the command line, runs one command, and turns every outcome into an exit code and a message.

import { createInterface } from 'node:readline/promises';
import { CommanderError } from 'commander';
import { EmbeddedPostgresError } from '../../libs/embedded/index.js';
import { FlowError } from '../../libs/flow/index.js';
import { loadSettings } from '../config/load-settings.js';
import { DatabaseUnreachableError } from '../database/unreachable.js';
import { ConfigurationError, InvalidArgumentError, UnknownNameError } from '../errors.js';
import { type CliContext, EXIT, type GlobalFlags } from './command.js';
import { errorMessage } from './error-message.js';
import { ansiOf, jsonText, line, visible, visibleLines } from './output.js';
import { buildProgram } from './program.js';
import { withServices } from './services.js';
import { type CliStreams, terminalOf } from './terminal.js';
import { UsageError } from './usage-error.js';

const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

/** Runs one command line and returns its exit code. `interrupted` is aborted by Ctrl-C. */
export async function runCli(
  args: readonly string[],
  streams: CliStreams,
  interrupted: AbortSignal = new AbortController().signal,
): Promise<number> {
  const run = { code: EXIT.ok as number, command: '' };
  const context = contextOf(streams, interrupted, run);
  const program = buildProgram(streams, context);
  Object.defineProperty(context, 'flags', { get: () => program.opts<GlobalFlags>() });
  const ended = program.parseAsync([...args], { from: 'user' }).then(
    () => run.code,
    (error: unknown) => (interrupted.aborted ? EXIT.interrupted : reportError(error, context, run.command, args)),
  );
  const code = await Promise.race([ended, graceAfterInterrupt(interrupted, context)]);
  const stoppedNormally = context.runsUntilStopped && interrupted.reason === 'SIGTERM';
  return interrupted.aborted && !stoppedNormally ? EXIT.interrupted : code;
}

function contextOf(streams: CliStreams, interrupted: AbortSignal, run: { code: number; command: string }): CliContext {
  const terminal = terminalOf(streams);
  const context: CliContext = {
    terminal,
    flags: {},
    interrupted,
    graceMs: 1_000,
    runsUntilStopped: false,
    print: (...lines) => void streams.out.write(lines.map((each) => `${ansiOf(each)}\n`).join('')),
    note: (...lines) => void streams.err.write(lines.map((each) => `${ansiOf(each)}\n`).join('')),
    clear: () => void streams.out.write(CLEAR),
    redraw: (text) => void streams.err.write(`\r\u001b[2K${visible(text)}`),
    report(data, render, code = EXIT.ok) {
      if (context.flags.json) context.print(jsonText({ ok: code === EXIT.ok, command: run.command, data })!);
      else render();
      return code;
    },
    settings(options = {}, more = undefined) {
      const { databaseUrl, config } = context.flags;
      const database = databaseUrl === undefined ? {} : { database: { url: databaseUrl } };
      const loaded = loadSettings({ ...more, options: { ...options, ...database }, optionsLabel: 'flags', configPath: config?.file });
      for (const warning of loaded.warnings) context.note(line`${terminal.colours.yellow('warning:')} ${warning}`);
      return loaded;
    },
    withServices: (work) => withServices(context.settings(), work),
    async confirm(question, yes) {
      if (yes) return true;
      if (!terminal.canAsk) throw new UsageError(question, `There is no terminal to ask in: pass --yes to confirm.`);
      // Not readline's own terminal mode: Ctrl-C must stay a signal.
      const prompt = createInterface({ input: streams.in!, output: streams.err, terminal: false });
      try {
        return /^y(es)?$/i.test((await prompt.question(`${visible(question)} [y/N] `, { signal: interrupted })).trim());
      } finally {
        prompt.close();
      }
    },
    action:
      (action) =>
      async (...args) => {
        run.command = (args.at(-1) as { name(): string }).name();
        if (context.flags.config?.bare && run.command !== 'doctor') throw new UsageError('--config needs the path of a file.');
        run.code = (await action(...args)) ?? EXIT.ok;
      },
  };
  return context;
}

// After Ctrl-C a command has some time to stop; then it is no longer waited for.
function graceAfterInterrupt(interrupted: AbortSignal, context: CliContext): Promise<number> {
  return new Promise((resolve) => {
    const wait = () => {
      if (Number.isFinite(context.graceMs)) setTimeout(() => resolve(EXIT.interrupted), context.graceMs).unref();
    };
    if (interrupted.aborted) wait();
    else interrupted.addEventListener('abort', wait, { once: true });
  });
}

function reportError(error: unknown, context: CliContext, command: string, args: readonly string[]): number {
  // Commander has already printed the problem, or the help or version that was requested.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    const message = error.message.replace(/^error: /, '');
    if (args.includes('--json') && error.code !== 'commander.help') printJsonError(context, command, 'RHYTHM_USAGE', message);
    return EXIT.usage;
  }
  const { code } = error as { code?: string };
  const text = errorMessage(error, command);
  if (context.flags.json) printJsonError(context, command, code ?? (isUsage(error) ? 'RHYTHM_USAGE' : 'RHYTHM_FAILED'), text);
  else {
    const [first, ...rest] = mayHaveLines(error) ? visibleLines(text) : [text];
    context.note(line`${context.terminal.colours.red('error:')} ${first!}`, ...rest);
  }
  return isUsage(error) ? EXIT.usage : error instanceof DatabaseUnreachableError ? EXIT.unreachable : EXIT.failed;
}

// Those whose messages we lay out in lines. In all others a line break comes from a name or from the error of a run.
function mayHaveLines(error: unknown): boolean {
  if (error instanceof ConfigurationError) return CODES_WITH_LINES.includes(error.code);
  return error instanceof UsageError || error instanceof FlowError || error instanceof EmbeddedPostgresError;
}

const CODES_WITH_LINES = ['RHYTHM_DATABASE_URL_MISSING', 'RHYTHM_FLOW_INVALID', 'RHYTHM_UNKNOWN_TASK'];

function printJsonError(context: CliContext, command: string, code: string, message: string): void {
  context.print(jsonText({ ok: false, command, error: { code, message } })!);
}

function isUsage(error: unknown): boolean {
  if (error instanceof UnknownNameError) return false;
  return error instanceof UsageError || error instanceof ConfigurationError || error instanceof InvalidArgumentError;
}
