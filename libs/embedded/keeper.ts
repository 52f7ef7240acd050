// A lease on a keeper: starts a keeper or joins the one that is there, and sends it what to run until the lease ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { EmbeddedPostgresError } from './embedded-error.js';
import { KEEPER_SOURCE } from './keeper-source.js';

/** A program for the keeper to run. */
export interface Job {
  file: string;
  args: string[];
  options: { cwd: string; env: Record<string, string>; uid?: number; gid?: number };
}

export interface ServerJob extends Job {
  log: string;
  /** PostgreSQL writes `ready` here once it accepts connections. */
  pidFile: string;
  /** Sent to all leases once the server is up. */
  url: string;
}

interface Message {
  keeper?: number;
  folder?: string;
  served?: string;
  ended?: { code: number; output: string };
}

/** The keeper closed the connection: it is shutting down, or was killed. */
class KeeperClosedError extends Error {}

/** One open connection to a keeper. While it is open PostgreSQL runs. */
export class Lease {
  private readonly messages: Message[] = [];
  private wake: () => void = () => {};
  private closed = false;

  private constructor(
    private readonly socket: Socket,
    lines: Interface,
  ) {
    lines.on('line', (line) => {
      this.messages.push(JSON.parse(line) as Message);
      this.wake();
    });
    // Both streams emit an error; the close that follows is what counts.
    socket.on('error', () => {});
    lines.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      this.wake();
    });
  }

  /** The folder of a throwaway server. */
  folder = '';

  /** Starts a keeper. Null when another one holds the lock of the same data folder. */
  static async launch(order: { lock?: string; throwaway?: string; stopSignal: 'SIGINT' | 'SIGQUIT' }): Promise<Lease | null> {
    const token = randomBytes(24).toString('hex');
    // Nothing of the app's environment: no NODE_OPTIONS that affect the keeper, no secrets that it keeps after the app has ended.
    const env = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot };
    const child = spawn(process.execPath, ['-'], { detached: true, stdio: 'pipe', cwd: '/', env });
    child.stdin.end(`const order = ${JSON.stringify({ ...order, token })};\n${KEEPER_SOURCE}`);
    const first = JSON.parse(await firstLine(child)) as { port: number; taken?: boolean };
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
    if (first.taken) return null;
    const lease = await Lease.open(first.port, token);
    if (lease) return lease;
    throw new EmbeddedPostgresError(
      'RHYTHM_EMBEDDED_KEEPER',
      'The process that keeps PostgreSQL ended before it could be reached. Try again.',
    );
  }

  /** Joins the keeper that holds this lock. Null when there is none; a lock left by a dead one is removed. */
  static async join(lock: string): Promise<Lease | null> {
    const text = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
    if (text === '') return null;
    const { port, token } = JSON.parse(text) as { port: number; token: string };
    const lease = await Lease.open(port, token);
    if (!lease) removeStale(lock, text);
    return lease;
  }

  /** Runs a program to its end, and returns the end of its output. */
  async run(job: Job): Promise<{ code: number; output: string }> {
    this.send({ run: job });
    return (await this.receive((message) => message.ended)) as { code: number; output: string };
  }

  /** Starts PostgreSQL; `failed` tells why it did not come up. */
  async serve(job: ServerJob): Promise<{ failed?: string }> {
    this.send({ serve: job });
    const message = await this.receive((m) => (m.served || m.ended ? m : undefined));
    return message.ended ? { failed: message.ended.output } : {};
  }

  /** Waits until the server is up, whichever process starts it. Resolves with its address, or with null when its keeper ends instead. */
  async served(): Promise<string | null> {
    try {
      return await this.receive((message) => message.served);
    } catch (error) {
      if (error instanceof KeeperClosedError) return null;
      throw error;
    }
  }

  /** Ends the lease. If there is no other, PostgreSQL has ended when this resolves. */
  async leave(): Promise<void> {
    if (this.closed) return;
    this.socket.ref();
    const closed = new Promise<void>((resolve) => this.socket.once('close', () => resolve()));
    this.send({ leave: true });
    await closed;
  }

  /** From now on the open lease does not keep this process alive. */
  unref(): void {
    this.socket.unref();
  }

  private static async open(port: number, token: string): Promise<Lease | null> {
    const socket = connect({ port, host: '127.0.0.1' });
    const lease = new Lease(socket, createInterface({ input: socket }));
    socket.write(`${token}\n`);
    // Another program may have got the port of a dead keeper; it does not reply like one.
    const timer = setTimeout(() => socket.destroy(), 5_000);
    try {
      const hello = await lease.receive((message) => (message.keeper ? message : undefined));
      lease.folder = hello.folder ?? '';
      return lease;
    } catch {
      socket.destroy();
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  private send(value: object): void {
    this.socket.write(`${JSON.stringify(value)}\n`);
  }

  private async receive<T>(pick: (message: Message) => T | undefined): Promise<T> {
    for (;;) {
      while (this.messages.length > 0) {
        const picked = pick(this.messages.shift() as Message);
        if (picked !== undefined) return picked;
      }
      if (this.closed) throw new KeeperClosedError('The process that keeps PostgreSQL has ended.');
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** Two processes may find the same stale lock: only a lock with this text is removed, never a new one. */
function removeStale(lock: string, text: string): void {
  const aside = `${lock}.stale.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(lock, aside);
    if (readFileSync(aside, 'utf8') !== text) linkSync(aside, lock);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    const fail = (why: string) =>
      reject(new EmbeddedPostgresError('RHYTHM_EMBEDDED_KEEPER', `The process that keeps PostgreSQL did not start: ${why}`));
    child.stdin?.on('error', () => {});
    child.stderr?.on('data', (text: Buffer) => {
      errors += text.toString();
    });
    child.stdout?.on('data', (text: Buffer) => {
      output += text.toString();
      if (output.includes('\n')) resolve(output.slice(0, output.indexOf('\n')));
    });
    child.once('error', (error) => fail(error.message));
    child.once('close', (code) => fail(errors || `it ended with code ${code}`));
  });
}
