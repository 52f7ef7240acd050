// Starts the `rhythm` command as a process, with pipes or in a real terminal, and returns its output.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { waitFor } from '../support/index.js';
import { compiledPackage } from './compiled-package.js';

/** How a command ended. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** A command that is still running. */
export interface RunningCli {
  readonly pid: number;
  readonly out: string;
  readonly err: string;
  readonly ended: Promise<Ended>;
  /** Waits until one of its streams matches. */
  prints(pattern: RegExp): Promise<RegExpMatchArray>;
  type(text: string): void;
  signal(name: NodeJS.Signals): void;
  child: ChildProcess;
}

export interface CliOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** In a terminal with this many columns (created by `script` of util-linux). */
  columns?: number;
}

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Runs a command to its end. */
export function rhythm(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
  const { child, ended } = startRhythm(args, options);
  child.stdin?.end();
  return ended;
}

/** Starts a command. */
export function startRhythm(args: readonly string[], { env = {}, cwd, columns }: CliOptions = {}): RunningCli {
  const { NODE_OPTIONS: _, COLUMNS: __, ...inherited } = process.env;
  const main = join(compiledPackage(), 'src/cli/main.js');
  const command = [process.execPath, main, ...args];
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const [file, argv] =
    columns === undefined
      ? [command[0]!, command.slice(1)]
      : ['script', ['-qec', `stty cols ${columns} rows 50 -echo; exec ${quoted}`, '/dev/null']];
  const child = spawn(file, argv, {
    cwd,
    stdio: 'pipe',
    env: { ...inherited, NODE_NO_WARNINGS: '1', TERM: 'xterm', ...env, RHYTHM_TEST_CHILD: process.env.RHYTHM_TEST_RUN ?? 'none' },
  });
  running.add(child);
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      running.delete(child);
      resolve({ code, ...output });
    });
  });
  return {
    pid: child.pid!,
    get out() {
      return output.out;
    },
    get err() {
      return output.err;
    },
    ended,
    prints: (pattern) => waitFor(`rhythm to print ${pattern}`, () => output.out.match(pattern) ?? output.err.match(pattern)),
    type: (text) => void child.stdin.write(text),
    signal: (name) => void child.kill(name),
    child,
  };
}
