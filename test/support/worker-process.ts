// Runs a TypeScript file as a real process that a spec can watch, freeze, thaw and kill.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import { RUN_ID } from './test-run.js';
import { waitFor } from './wait-for.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const REGISTER = new URL('../../scripts/register-typescript.mjs', import.meta.url).href;
const EXIT_WITH_PARENT = new URL('./exit-with-parent.mjs', import.meta.url).href;
const running = new Set<ChildProcess>();

export interface WorkerOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Node's own flags, e.g. `--max-old-space-size=64`. */
  nodeArgs?: string[];
}

/** A process started by `spawnWorker`. */
export interface WorkerProcess {
  readonly pid: number;
  /** Everything it has written so far, both streams. */
  readonly output: string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Waits for a line of its output and returns the match; fails early, with the output, if the process ends without it. */
  line(pattern: RegExp | string, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Sends a signal (SIGKILL unless another is named) and waits until the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGSTOP: the process exists but does nothing, not even a heartbeat. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
}

/**
 * Starts `node <script>`, which may import our TypeScript; the path is relative to the root of the repository. The process
 * ends with the spec's process; `endWorkers()` (or `useWorkers()` at the top of a file) ends it earlier.
 */
export function spawnWorker(script: string, { args = [], env = {}, nodeArgs = [] }: WorkerOptions = {}): WorkerProcess {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [...nodeArgs, '--import', REGISTER, '--import', EXIT_WITH_PARENT, script, ...args], {
    cwd: ROOT,
    stdio: 'pipe',
    env: { ...inherited, NODE_NO_WARNINGS: '1', ...env, RHYTHM_TEST_CHILD: process.env[RUN_ID] ?? 'none' },
  });
  let output = '';
  let ended = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.stdin.on('error', () => {});
  running.add(child);
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      ended = true;
      running.delete(child);
      resolve({ code, signal });
    });
  });
  exited.catch(() => running.delete(child));

  return {
    pid: child.pid as number,
    get output() {
      return output;
    },
    exited,
    async line(pattern, timeoutMs = 20_000) {
      const wanted = typeof pattern === 'string' ? new RegExp(pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : pattern;
      const find = () => output.match(wanted);
      await waitFor(`${script} to print ${wanted} (so far: ${output || 'nothing'})`, () => find() ?? ended, { timeoutMs });
      const match = find();
      if (!match) throw new Error(`${script} ended without printing ${wanted}. It printed:\n${output}`);
      return match;
    },
    kill(signal = 'SIGKILL') {
      if (!ended) child.kill(signal);
      return exited;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}

/** Kills every process that this file started and waits until they have ended. */
export async function endWorkers(): Promise<void> {
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise<void>((resolve) => {
          child.once('close', () => resolve());
          child.kill('SIGKILL');
        }),
    ),
  );
}

/** For the top of a spec file: kills the processes that it starts after its last test. */
export function useWorkers(): void {
  afterAll(endWorkers);
}
