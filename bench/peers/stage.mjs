// The stage of one measurement: a fresh database, and the processes of one contestant on it.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROCESS = fileURLToPath(new URL('process.mjs', import.meta.url));
/** Everybody runs on the Node of the npm package `node`, ours too. */
export const NODE = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
const PATIENCE_MS = 10 * 60_000;

/** A process of a contestant that answers calls. */
export class Actor {
  #child;
  #waiting = new Map();
  #next = 0;
  #errors = '';

  static async start(name) {
    const actor = new Actor();
    actor.#child = fork(PROCESS, [name], { execPath: NODE, execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    actor.#child.stderr.on('data', (data) => {
      actor.#errors = (actor.#errors + data).slice(-4_000);
    });
    const ready = new Promise((resolve) => {
      actor.#child.on('message', (message) => (message.ready ? resolve() : actor.#settle(message)));
    });
    const gone = new Promise((_, reject) => {
      actor.#child.on('exit', (code, signal) => {
        const error = new Error(`A process of ${name} ended (${signal ?? code}).\n${actor.#errors}`);
        for (const { reject: fail } of actor.#waiting.values()) fail(error);
        reject(error);
      });
    });
    gone.catch(() => undefined);
    await Promise.race([ready, gone]);
    return actor;
  }

  get pid() {
    return this.#child.pid;
  }

  call(call, ...args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${call} did not answer.\n${this.#errors}`)), PATIENCE_MS);
      const done = (settle) => (value) => {
        clearTimeout(late);
        this.#waiting.delete(id);
        settle(value);
      };
      this.#waiting.set(id, { resolve: done(resolve), reject: done(reject) });
      this.#child.send({ id, call, args });
    });
  }

  async end() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 30_000);
    await this.call('close').catch(() => this.#child.kill('SIGKILL'));
    await gone;
    clearTimeout(late);
  }

  #settle({ id, value, error }) {
    const waiting = this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }
}

/** Runs a measurement on a stage and clears it away, whatever happens. */
export async function onStage(venue, contestant, play) {
  const place = await venue.open(contestant);
  const actors = [];
  const stage = {
    contestant,
    url: place.url,
    database: place.database,
    gauges: venue.gauges,
    async actor() {
      const actor = await Actor.start(contestant.module);
      actors.push(actor);
      return actor;
    },
    async client() {
      const actor = await this.actor();
      await actor.call('prepare', place.url);
      await actor.call('openClient', place.url);
      return actor;
    },
    async workers(count, options) {
      return Promise.all(
        Array.from({ length: count }, async () => {
          const actor = await this.actor();
          await actor.call('openWorkers', place.url, options);
          return actor;
        }),
      );
    },
  };
  try {
    return await play(stage);
  } finally {
    await Promise.all(actors.map((actor) => actor.end()));
    await place.close();
  }
}
