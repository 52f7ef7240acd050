// The servers of a benchmark: a private PostgreSQL with durable settings, a private Redis if it is installed, and gauges on both.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../dist/esm/src/index.js';

/** Settings that differ from PostgreSQL's defaults; the harness makes one checkpoint before each measurement. */
export const SERVER_SETTINGS = {
  max_connections: '1200',
  shared_buffers: '512MB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
};

/** Starts both servers; `redis: false` starts PostgreSQL only. */
export async function startServers({ redis: withRedis = true } = {}) {
  const server = await startEmbedded({ durable: true, settings: SERVER_SETTINGS });
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const redis = withRedis ? await startRedis() : undefined;
  const postmaster = parentOf((await admin.query('SELECT pg_backend_pid() AS pid')).rows[0].pid);
  const { rows } = await admin.query('SHOW server_version');
  let number = 0;
  return {
    redis: redis !== undefined,
    versions: { postgresql: rows[0].server_version, redis: redis?.version },
    gauges: {
      /** Bytes of WAL since initdb. */
      wal: async () => Number((await admin.query(`SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes`)).rows[0].bytes),
      /** Seconds of CPU that the server and its backends have used, including backends that have ended. */
      serverCpu: (store) => (store === 'redis' ? cpuOf(redis.pid, false) : cpuOf(postmaster, true)),
      checkpoint: () => admin.query('CHECKPOINT'),
      transactions: async (database) =>
        Number(
          (await admin.query('SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = $1', [database])).rows[0].n,
        ),
    },
    /** An empty database in the store of a contestant. */
    async createDatabase({ store }) {
      if (store === 'redis') {
        await redis.flush();
        return { url: redis.url, name: undefined, drop: async () => undefined };
      }
      const name = `bench_${number++}`;
      await admin.query(`CREATE DATABASE ${name}`);
      const url = server.url.replace(/\/[^/]*$/, `/${name}`);
      return { url, name, drop: async () => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)) };
    },
    async stop() {
      await admin.end();
      await redis?.stop();
      await server.stop();
    },
  };
}

async function startRedis() {
  let version;
  try {
    version = /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))[1];
  } catch {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-redis-'));
  const port = await freePort();
  // The most durable setting that keeps it fast: an append-only file, flushed every second.
  const args = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'];
  const child = spawn('redis-server', args.map(String), { stdio: 'ignore' });
  process.once('exit', () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const cli = (command) =>
    execFileSync('redis-cli', ['-p', String(port), command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  for (let tries = 0; tries < 200; tries++) {
    try {
      if (cli('ping').trim() === 'PONG') break;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return {
    version,
    pid: child.pid,
    url: `redis://127.0.0.1:${port}`,
    flush: async () => void cli('flushall'),
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

// On Linux only; elsewhere CPU is not reported.
const TICKS = 100;
const statOf = (pid) => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
};
function parentOf(pid) {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return undefined;
  }
}
function cpuOf(root, withChildren) {
  if (root === undefined) return undefined;
  const ticks = (fields, from, to) => fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
  const own = statOf(root);
  // utime and stime, and those of children that have ended.
  let sum = ticks(own, 11, withChildren ? 15 : 13);
  if (!withChildren) return sum / TICKS;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const fields = statOf(pid);
      if (Number(fields[1]) === root) sum += ticks(fields, 11, 13);
    } catch {
      // It ended after readdir; its parent now has its time.
    }
  }
  return sum / TICKS;
}
