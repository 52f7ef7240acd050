// What a command is: how it joins the program, what it is given, and the exit codes it answers with.

import type { Command } from 'commander';
import type { LoadedSettings } from '../config/load-settings.js';
import type { SettingOptions } from '../config/schema.js';
import type { CliServices } from './services.js';
import type { Terminal } from './terminal.js';

/** Documented exit codes. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Flags that every command takes. */
export interface GlobalFlags {
  databaseUrl?: string;
  /** `bare` when it was given without a file, which means something to `doctor` only. */
  config?: { file?: string; bare?: boolean };
  json?: boolean;
}

/** What every command gets. */
export interface CliContext {
  readonly terminal: Terminal;
  readonly flags: GlobalFlags;
  /** Aborted by Ctrl-C: a command that goes on for long ends itself then, cleanly. */
  readonly interrupted: AbortSignal;
  /** How long the command may take for that before the process ends all the same. */
  graceMs: number;
  /** The command runs until it is stopped: SIGTERM is then its regular end. */
  serves: boolean;
  /** Writes a line of result. */
  print(line: string): void;
  /** Writes a line for people beside the result. */
  note(line: string): void;
  /** Draws over the last drawn line of notes; for terminals only. */
  draw(text: string): void;
  /** The answer of the command: one JSON document with --json, else whatever `render` prints. */
  answer(data: unknown, render: () => void, code?: number): number;
  /** The settings of this place, with the flags on top; only for looking at them may the database be missing. */
  settings(options?: SettingOptions, more?: { withoutDatabase: boolean }): LoadedSettings;
  /** Connects, works, and closes again. */
  withServices<T>(work: (services: CliServices) => Promise<T>): Promise<T>;
  /** Asks a yes-or-no question; `yes` answers it for scripts. Throws a UsageError where nobody can be asked. */
  confirm(question: string, yes: boolean | undefined): Promise<boolean>;
  /** Makes an action of a function that answers an exit code (or nothing: 0). */
  // biome-ignore lint/suspicious/noExplicitAny: commander hands arguments over untyped
  act<Given extends any[]>(run: (...given: Given) => Promise<number | undefined> | number | undefined): (...given: Given) => Promise<void>;
}

/** A command adds itself to the program. */
export type CliCommand = (program: Command, context: CliContext) => void;
