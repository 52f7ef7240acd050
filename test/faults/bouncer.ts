// A real PgBouncer in transaction mode in front of a database, where the machine has one.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { waitFor } from '../support/wait-for.js';
import { freePort } from './free-port.js';

// PgBouncer does not run as root; this user has no other rights.
const NOBODY = 65_534;

/** Where the program is, if it is installed. */
export function findBouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

/** Fewer server connections than clients, so that what one client left in a session is met by another. */
export const SERVER_CONNECTIONS = 4;

export class Bouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  static async inFrontOf(target: string, program: string): Promise<Bouncer> {
    const server = new URL(target);
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'rhythm-bouncer-'));
    chmodSync(folder, 0o711);
    const file = join(folder, 'pgbouncer.ini');
    const login = `user=${decodeURIComponent(server.username)} password='${decodeURIComponent(server.password)}'`;
    writeFileSync(
      file,
      `[databases]
* = host=${server.hostname} port=${server.port || 5432} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 200
server_reset_query =
`,
    );
    const root = process.getuid?.() === 0;
    chmodSync(file, root ? 0o644 : 0o600);
    const child = spawn(program, [file], { stdio: ['ignore', 'pipe', 'pipe'], ...(root ? { uid: NOBODY, gid: NOBODY } : {}) });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    const bouncer = new Bouncer(child, folder, url.href);
    await waitFor('pgbouncer to reply', async () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${output}`);
      const client = new pg.Client({ connectionString: url.href });
      client.on('error', () => {});
      await client.connect();
      await client.end();
      return true;
    });
    return bouncer;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    if (this.child.exitCode === null && this.child.kill('SIGKILL')) await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
