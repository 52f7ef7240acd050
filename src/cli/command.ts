// What a command is: how it is added to the program, what it gets, and its exit codes.

import type { Command } from 'commander';
import type { LoadedSettings } from '../config/load-settings.js';
import type { SettingOptions } from '../config/schema.js';
import type { Printable } from './output.js';
import type { CliServices } from './services.js';
import type { Terminal } from './terminal.js';

/** Documented exit codes. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, interrupted: 130 } as const;

/** Flags of every command. */
export interface GlobalFlags {
  databaseUrl?: string;
  /** `bare` when it was given without a file, which only `doctor` allows. */
  config?: { file?: string; bare?: boolean };
  json?: boolean;
}

/** What every command gets. */
export interface CliContext {
  readonly terminal: Terminal;
  readonly flags: GlobalFlags;
  /** Aborted by Ctrl-C: a command that runs for long then stops cleanly. */
  readonly interrupted: AbortSignal;
  /** How long the command may take to stop before the process ends anyway. */
  graceMs: number;
  /** The command runs until it is stopped, so SIGTERM is its normal end. */
  runsUntilStopped: boolean;
  /** Writes lines of the result to stdout. Each string is one line: control characters in it, line breaks too, are written as escapes. */
  print(...lines: Printable[]): void;
  /** Writes lines for people to stderr, in the same way. */
  note(...lines: Printable[]): void;
  /** Clears the screen, before a command prints again. */
  clear(): void;
  /** Overwrites the last line of stderr; for terminals only. */
  redraw(text: string): void;
  /** Writes the result of the command, as one JSON document with --json and otherwise with `render`. Returns the exit code. */
  report(data: unknown, render: () => void, code?: number): number;
  /** The settings of the working directory, overridden by the flags. The database may be missing only where settings are just shown. */
  settings(options?: SettingOptions, more?: { withoutDatabase: boolean }): LoadedSettings;
  /** Connects, calls `work`, and closes the connections. */
  withServices<T>(work: (services: CliServices) => Promise<T>): Promise<T>;
  /** Asks a yes-or-no question, unless `yes` is set. Throws a UsageError where there is no terminal to ask in. */
  confirm(question: string, yes: boolean | undefined): Promise<boolean>;
  /** Makes an action of a function that returns an exit code (or nothing: 0). */
  // biome-ignore lint/suspicious/noExplicitAny: commander passes untyped arguments
  action<Args extends any[]>(run: (...args: Args) => Promise<number | undefined> | number | undefined): (...args: Args) => Promise<void>;
}

/** A command adds itself to the program. */
export type CliCommand = (program: Command, context: CliContext) => void;
