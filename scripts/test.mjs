// `npm test [-- path or jest options]`: every spec in parallel on a real PostgreSQL, and nothing left afterwards, also after Ctrl-C.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { grammarDiffers } from './grammar.mjs';
import './register-typescript.mjs';

const root = new URL('../', import.meta.url);
const { endStrays } = await import('../test/support/strays.ts');
const { clearRun } = await import('../test/support/test-run.ts');

// `npm run check` refuses this; here it explains failures that nobody could otherwise understand.
const problem = grammarDiffers(root);
if (problem) console.warn(`Note: ${problem}`);

const id = process.env.RHYTHM_TEST_RUN ?? randomBytes(4).toString('hex');
// The temp folder of everything in this run, so that what an interrupted spec made there goes with it.
const temp = mkdtempSync(join(tmpdir(), 'rhythm-run-'));
chmodSync(temp, 0o755);
const jest = spawn(process.execPath, [fileURLToPath(new URL('node_modules/jest/bin/jest.js', root)), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    // Jest's ESM needs the first; the second keeps Node from saying so once per process.
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim(),
    RHYTHM_TEST_RUN: id,
    RHYTHM_TEST_CHILD: id,
    TMPDIR: temp,
    TEMP: temp,
    TMP: temp,
  },
});

let interrupted;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted ??= signal;
    jest.kill(signal);
  });
}

jest.on('exit', async (code, signal) => {
  // Workers of jest do not notice that it is gone while a test runs; nor does a process that a spec has stopped.
  endStrays(id);
  const server = process.env.RHYTHM_DATABASE_URL || process.env.DATABASE_URL;
  if ((interrupted || signal) && server) await clearRun(server, id);
  // The keeper of an interrupted run is still putting its server away.
  for (let waited = 0; waited < 5_000 && readdirSync(temp).some((name) => name.startsWith('rhythm-pg-')); waited += 20) await pause(20);
  rmSync(temp, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit(interrupted === 'SIGINT' ? 130 : (code ?? 1));
});
