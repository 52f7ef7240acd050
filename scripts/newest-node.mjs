// `npm run test:newest`: a few specs and the pack test on the newest Node, which comes from npm and is removed afterwards.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './register-typescript.mjs';

const VERSION = '26.10.0';
// These cover what differs between versions of Node: loading modules and TypeScript, processes and signals, sockets, V8.
const SPECS = [
  'test/cli/worker-file',
  'test/embedded/embedded',
  'test/faults/restarts',
  'test/conformance/generated',
  'libs/store/connect/notifications',
];
// Fewer than `npm test` compares with V8.
const GENERATED_PROGRAMS = '60';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rhythm-newest-node-'));
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

const { nodeBinary, nodePackage } = await import('../test/oracle/ensure-oracle.ts');
const name = nodePackage();
const node = nodeBinary(folder, name);
const install = ['install', '--no-save', '--ignore-scripts', '--loglevel=error', '--prefix', folder, `${name}@${VERSION}`];
if ((await run('npm', install)) !== 0 && !interrupted)
  throw new Error(`npm did not install ${name}@${VERSION}. Is the registry reachable?`);
console.log(`On Node ${VERSION}:`);
// So that npm, npx and everything that a spec starts use this Node.
const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, RHYTHM_TEST_RUNS: GENERATED_PROGRAMS };
const codes = [await run(node, ['scripts/test.mjs', ...SPECS], env), await run(node, ['test/pack/pack-test.mjs', '--without-types'], env)];
process.exitCode = interrupted ? 130 : Math.max(...codes);

/** Runs a program to its end and returns its exit code; 1 if a signal ended it or kept it from starting. */
function run(program, args, more = {}) {
  if (interrupted) return 1;
  const windows = program === 'npm' && process.platform === 'win32';
  child = spawn(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...more }, shell: windows });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
