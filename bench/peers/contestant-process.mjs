// A process of a contestant, called over IPC: the side of the harness. The other side is contestant-main.mjs.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('contestant-main.mjs', import.meta.url));
/** All contestants run on the Node of the npm package `node`, ours too. */
const NODE = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
const CALL_TIMEOUT_MS = 10 * 60_000;
const CLOSE_TIMEOUT_MS = 30_000;

/** The root of this repository. */
export const ROOT = new URL('../../', import.meta.url);

/** The module of a contestant in a checkout. */
export function contestantFile(name, checkout = ROOT) {
  return new URL(`bench/peers/contestants/${name}.mjs`, checkout).href;
}

export class ContestantProcess {
  #child;
  #pending = new Map();
  #nextId = 0;
  #stderr = '';

  static async start(file) {
    const started = new ContestantProcess();
    started.#child = fork(MAIN, [file], { execPath: NODE, execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    started.#child.stderr.on('data', (data) => {
      started.#stderr = (started.#stderr + data).slice(-4_000);
    });
    const ready = new Promise((resolve) => {
      started.#child.on('message', (message) => (message.ready ? resolve() : started.#settle(message)));
    });
    const exited = new Promise((_, reject) => {
      started.#child.on('exit', (code, signal) => {
        const error = new Error(`A process of ${file} ended (${signal ?? code}).\n${started.#stderr}`);
        for (const call of started.#pending.values()) call.reject(error);
        reject(error);
      });
    });
    exited.catch(() => undefined);
    await Promise.race([ready, exited]);
    return started;
  }

  call(name, ...args) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => reject(new Error(`The call ${name} timed out.\n${this.#stderr}`)), CALL_TIMEOUT_MS);
      const done = (settle) => (value) => {
        clearTimeout(timeout);
        this.#pending.delete(id);
        settle(value);
      };
      this.#pending.set(id, { resolve: done(resolve), reject: done(reject) });
      this.#child.send({ id, name, args });
    });
  }

  async end() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    const timeout = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
    await this.call('close').catch(() => this.#child.kill('SIGKILL'));
    await exited;
    clearTimeout(timeout);
  }

  #settle({ id, value, error }) {
    const call = this.#pending.get(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  }
}
