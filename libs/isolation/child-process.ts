// One process of isolated flows, as the worker sees it: started, given one turn at a time, watched, and ended.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ChildPlace } from './child-place.js';
import { endedByItself, invalidReply, outOfMemory, tookTooLong } from './ends.js';
import { IsolationStartError, type TurnKilledError, TurnStoppedError } from './errors.js';
import { type Frame, FrameError, type FrameLimits, FrameReader, writeFrame } from './frames.js';
import { inheritedDescriptors } from './inherited-descriptors.js';
import { type ChildOrder, REQUEST_LIMITS, type TurnRequest } from './messages.js';
import { type IsolationOptions, oldSpaceOf } from './options.js';
import { residentMemory } from './resident-memory.js';

const START_MS = 30_000;
const LOOK_MS = 50;
// A timer that fires later than this was held up by this process: the reply may be here already, unread.
const LATE_MS = 250;
const GRACE_MS = 1_000;
const READY_LIMITS: FrameLimits = { bytes: 1_024, headBytes: 1_024, texts: 0 };

/** The turn that a process runs now. */
interface Running {
  resolve(frame: Frame): void;
  reject(error: Error): void;
  reader: FrameReader;
  timer: NodeJS.Timeout;
  look: NodeJS.Timeout;
}

/** When a process that has not replied is ended, and what is said then. */
interface Deadline {
  ms: number;
  reason: Error;
}

export class ChildProcessOfFlows {
  /** Resolves when it can be given turns; rejects with IsolationStartError. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  private hasEnded = false;
  /** How many turns it was given. */
  turns = 0;
  private readonly child: ChildProcess;
  private running: Running | undefined;
  /** Why it was ended by this worker. */
  private reason: Error | undefined;

  constructor(
    private readonly options: IsolationOptions,
    place: ChildPlace,
  ) {
    const order: ChildOrder = { parent: process.pid, memoryBytes: options.memoryBytes, close: inheritedDescriptors() };
    this.child = spawn(
      process.execPath,
      [...place.execArgv, `--max-old-space-size=${oldSpaceOf(options)}`, place.file, JSON.stringify(order)],
      // Nothing of the worker: no environment, no standard error, no descriptor but the two of the channel, no folder.
      { env: emptyEnvironment(), stdio: ['pipe', 'pipe', 'ignore'], cwd: '/', shell: false, windowsHide: true },
    );
    const { child } = this;
    this.ended = new Promise((resolve) => {
      const end = (why: string, signal: NodeJS.Signals | null) => {
        if (this.hasEnded) return;
        this.hasEnded = true;
        this.settle()?.reject(this.reason ?? endedByItself(why, signal, options));
        resolve();
      };
      child.once('error', (error) => end(error.message, null));
      child.once('exit', (code, signal) => end(signal === null ? `code ${code}` : `signal ${signal}`, signal));
    });
    // What is written after its end is reported by that end.
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('error', () => undefined);
    child.stdout?.on('data', (bytes: Buffer) => this.read(bytes));
    this.ready = this.start();
    // The pool looks at the outcome; without it a failed start would be an unhandled rejection.
    this.ready.catch(() => undefined);
    child.unref();
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** False from the moment at which its end is decided. */
  get isUsable(): boolean {
    return !this.hasEnded && this.reason === undefined;
  }

  /** Runs one turn; it must be ready and not busy. Rejects with TurnKilledError or TurnStoppedError, and then it has ended. */
  run(request: Frame<TurnRequest>): Promise<Frame> {
    this.turns++;
    const bytes = writeFrame(request, REQUEST_LIMITS);
    return new Promise((resolve, reject) => {
      if (!this.isUsable) return reject(this.reason ?? new TurnStoppedError());
      const { turnTimeoutMs } = this.options;
      this.expect(request.head.reply, { ms: turnTimeoutMs, reason: tookTooLong(turnTimeoutMs) }, resolve, reject);
      this.child.stdin?.write(bytes);
    });
  }

  /** The reply is not one: whatever the process did before, it is not to be trusted with another turn. */
  distrust(what: string): TurnKilledError {
    const error = invalidReply(what);
    this.kill(error);
    return error;
  }

  /** Ends it. A turn that it runs is rejected with this error. */
  kill(reason: Error = new TurnStoppedError()): void {
    if (this.hasEnded) return;
    this.reason ??= reason;
    // Also of a stopped process, and of one whose main thread never comes back.
    this.child.kill('SIGKILL');
  }

  private async start(): Promise<void> {
    const deadline = { ms: START_MS, reason: new Error(`it was not ready after ${START_MS} ms.`) };
    const hello = new Promise<Frame>((resolve, reject) => this.expect(READY_LIMITS, deadline, resolve, reject));
    try {
      await hello;
    } catch (error) {
      this.kill();
      throw new IsolationStartError((error as Error).message);
    }
  }

  private expect(limits: FrameLimits, deadline: Deadline, resolve: Running['resolve'], reject: Running['reject']): void {
    const look = setInterval(() => this.look(), LOOK_MS);
    look.unref();
    this.keepAlive(true);
    this.running = { resolve, reject, reader: new FrameReader(limits), look, timer: this.killAfter(deadline) };
  }

  private killAfter({ ms, reason }: Deadline): NodeJS.Timeout {
    const due = performance.now() + ms;
    const timer = setTimeout(() => {
      if (!this.running) return;
      if (performance.now() - due > LATE_MS) this.running.timer = this.killAfter({ ms: GRACE_MS, reason });
      else this.kill(reason);
    }, ms);
    timer.unref();
    return timer;
  }

  private look(): void {
    const { pid } = this.child;
    const resident = pid === undefined ? undefined : residentMemory(pid);
    if (resident !== undefined && resident > this.options.memoryBytes) this.kill(outOfMemory(this.options));
  }

  private read(bytes: Buffer): void {
    const { running } = this;
    try {
      const [frame, ...more] = running ? running.reader.read(bytes) : [];
      // Between turns it has nothing to say: what comes then would be taken for the reply to the next one.
      if (!running || more.length > 0 || (frame && !running.reader.isEmpty)) throw new FrameError('it wrote without being asked');
      if (frame) this.settle()?.resolve(frame);
    } catch (error) {
      this.distrust((error as Error).message);
    }
  }

  private settle(): Running | undefined {
    const { running } = this;
    if (!running) return undefined;
    clearTimeout(running.timer);
    clearInterval(running.look);
    this.running = undefined;
    this.keepAlive(false);
    return running;
  }

  // Only while something is asked of it does it keep the worker's process alive.
  private keepAlive(isBusy: boolean): void {
    const { stdin, stdout } = this.child;
    for (const stream of [stdin, stdout] as (Partial<Socket> | null)[]) isBusy ? stream?.ref?.() : stream?.unref?.();
  }
}

// Windows starts no process without SystemRoot.
function emptyEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return process.platform === 'win32' ? { SystemRoot } : {};
}
