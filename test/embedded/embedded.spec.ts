// The embedded PostgreSQL across processes: its data survives, it is shared, and it ends with the last process that uses it.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { isRunning, startEmbedded } from '../../libs/embedded/index.js';
import { endWorkers, spawnWorker, waitFor } from '../support/index.js';

let dataDir: string;
beforeEach(() => {
  const base = mkdtempSync(join(tmpdir(), 'rhythm test-'));
  chmodSync(base, 0o755);
  dataDir = join(base, 'a blank', 'données $HOME "x"');
});
afterEach(async () => {
  await endWorkers();
  await ended();
  rmSync(dirname(dirname(dataDir)), { recursive: true, force: true });
});

describe('a data folder', () => {
  it('keeps its data when the server stops and starts again', async () => {
    const first = await startEmbedded({ dataDir, durable: true });
    expect(await ask(first.url, 'show fsync')).toBe('on');
    await ask(first.url, `create table kept as select 'yes' as answer`);
    await first.stop();
    expect(existsSync(join(dataDir, 'keeper.json'))).toBe(false);
    expect(existsSync(join(dataDir, 'data', 'postmaster.pid'))).toBe(false);
    const second = await startEmbedded({ dataDir, durable: true });
    expect(await ask(second.url, 'select answer from kept')).toBe('yes');
    await second.stop();
  });

  it("keeps the app's own tables in the schema public, also when there is a schema with the name of its role", async () => {
    const server = await startEmbedded({ dataDir, durable: false });
    await ask(server.url, 'create schema rhythm');
    expect(await ask(server.url, 'select current_schema()')).toBe('public');
    await server.stop();
  });

  it('keeps its data when the app is killed, and the server ends with the app', async () => {
    const app = startApp();
    const url = await urlOf(app);
    await ask(url, `create table kept as select 'yes' as answer`);
    const server = postmaster();
    await app.kill('SIGKILL');
    await waitFor('PostgreSQL to end', () => !isRunning(server));
    const again = await startEmbedded({ dataDir, durable: false });
    expect(await ask(again.url, 'select answer from kept')).toBe('yes');
    await again.stop();
  });

  it('has one server for all processes that name it, ended by the last to leave', async () => {
    const [one, two] = [startApp(), startApp()];
    const url = await urlOf(one);
    expect(await urlOf(two)).toBe(url);
    const here = await startEmbedded({ dataDir, durable: false });
    expect(here.url).toBe(url);
    await one.kill('SIGTERM');
    await here.stop();
    expect(await ask(url, 'select 1')).toBe(1);
    await two.kill('SIGKILL');
    await ended();
    await expect(ask(url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('is taken over from a keeper that was killed together with the app, its PostgreSQL still running', async () => {
    const app = startApp();
    await ask(await urlOf(app), `create table kept as select 'yes' as answer`);
    const orphan = postmaster();
    process.kill(keeper(), 'SIGKILL');
    await app.kill('SIGKILL');
    expect(isRunning(orphan)).toBe(true);
    const again = await startEmbedded({ dataDir, durable: false });
    expect(isRunning(orphan)).toBe(false);
    expect(await ask(again.url, 'select answer from kept')).toBe('yes');
    await again.stop();
  });

  it('starts although the process id in a stale pid file now belongs to another process', async () => {
    await (await startEmbedded({ dataDir, durable: false })).stop();
    writeFileSync(join(dataDir, 'data', 'postmaster.pid'), `${process.pid}\n${join(dataDir, 'data')}\n1\n1\n\n127.0.0.1\n1 1\nready   \n`);
    const again = await startEmbedded({ dataDir, durable: false });
    expect(await ask(again.url, 'select 1')).toBe(1);
    await again.stop();
  });

  it('starts over when the first start was cut off in the middle of making the data', async () => {
    const app = startApp();
    await waitFor('initdb to begin', () => existsSync(dataDir) && readdirSync(dataDir).some((name) => name.startsWith('making-')), {
      everyMs: 1,
    });
    await app.kill('SIGKILL');
    const again = await startEmbedded({ dataDir, durable: false });
    expect(readdirSync(dataDir).filter((name) => /^(making|copying)-/.test(name))).toEqual([]);
    await again.stop();
  });

  it('may be where the user that root runs PostgreSQL as cannot enter: the data is then elsewhere, and found again', async () => {
    chmodSync(dirname(dirname(dataDir)), 0o700);
    const first = await startEmbedded({ dataDir, durable: false });
    await ask(first.url, `create table kept as select 'yes' as answer`);
    await first.stop();
    const again = await startEmbedded({ dataDir, durable: false });
    expect(await ask(again.url, 'select answer from kept')).toBe('yes');
    await again.stop();
    const isRoot = process.getuid?.() === 0;
    expect(existsSync(join(dataDir, 'elsewhere'))).toBe(isRoot);
    if (isRoot) removeElsewhere(realpathSync(join(dataDir, 'elsewhere')));
  });

  it('made by another major version of PostgreSQL is refused with a clear error', async () => {
    await (await startEmbedded({ dataDir, durable: false })).stop();
    writeFileSync(join(dataDir, 'data', 'PG_VERSION'), '12\n');
    await expect(startEmbedded({ dataDir, durable: false })).rejects.toMatchObject({
      code: 'RHYTHM_EMBEDDED_VERSION',
      message: expect.stringMatching(/made by PostgreSQL 12/),
    });
    expect(existsSync(join(dataDir, 'keeper.json'))).toBe(false);
  });
});

describe('a throwaway server', () => {
  it('is gone, folder and all, when the process that started it is killed', async () => {
    const app = spawnWorker('test/embedded/app.ts');
    const data = String(await ask(await urlOf(app), 'show data_directory'));
    await app.kill('SIGKILL');
    await waitFor('the folder to go', () => !existsSync(dirname(data)));
  });

  it('whose keeper was killed is ended and removed by the next start', async () => {
    const app = spawnWorker('test/embedded/app.ts');
    const data = String(await ask(await urlOf(app), 'show data_directory'));
    const orphan = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const killed = Number(/rhythm-pg-(\d+)/.exec(data)?.[1]);
    process.kill(killed, 'SIGKILL');
    await app.kill('SIGKILL');
    await waitFor('the keeper to be dead', () => !isRunning(killed));
    await (await startEmbedded({ durable: false })).stop();
    // Another run of the specs on this machine may be the one that sweeps.
    await waitFor('the orphan and its folder to go', () => !isRunning(orphan) && !existsSync(dirname(data)));
  });

  it('does not keep a process alive that has nothing else to do', async () => {
    const app = spawnWorker('test/embedded/short-lived.ts');
    expect(await app.exited).toEqual({ code: 0, signal: null });
  });

  it('fails with a clear error when its port is taken', async () => {
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve));
    const { port } = occupant.address() as { port: number };
    await expect(startEmbedded({ durable: false, port })).rejects.toMatchObject({
      code: 'RHYTHM_EMBEDDED_START',
      message: expect.stringMatching(/address already in use[\s\S]*RHYTHM_DATABASE_URL/i),
    });
    occupant.close();
  });
});

function startApp() {
  return spawnWorker('test/embedded/app.ts', { env: { DATA_DIR: dataDir } });
}

async function urlOf(app: ReturnType<typeof spawnWorker>): Promise<string> {
  return (await app.line(/URL (\S+)/))[1] as string;
}

function postmaster(): number {
  return Number(readFileSync(join(dataDir, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function keeper(): number {
  return (JSON.parse(readFileSync(join(dataDir, 'keeper.json'), 'utf8')) as { pid: number }).pid;
}

/** The keeper removes its lock as the last thing it does. */
async function ended(): Promise<void> {
  await waitFor('the keeper to end', () => !existsSync(join(dataDir, 'keeper.json')));
}

/** With the folder that holds all such data, if this was the only one. */
function removeElsewhere(place: string): void {
  rmSync(place, { recursive: true });
  if (readdirSync(dirname(place)).length === 0) rmdirSync(dirname(place));
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return Object.values((rows[0] as object | undefined) ?? {})[0];
  } finally {
    await client.end();
  }
}
