// `npm test [-- path or jest options]`: runs every spec in parallel on a real PostgreSQL and leaves nothing behind, even after Ctrl-C.
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
const { killLeftovers } = await import('../test/support/leftover-processes.ts');
const { clearRun } = await import('../test/support/test-run.ts');

// `npm run check` fails for this; here it explains failures that would otherwise be puzzling.
const problem = grammarDiffers(root);
if (problem) console.warn(`Note: ${problem}`);

const id = process.env.RHYTHM_TEST_RUN ?? randomBytes(4).toString('hex');
// The temp folder of everything in this run, so that files of an interrupted spec are removed with it.
const temp = mkdtempSync(join(tmpdir(), 'rhythm-run-'));
chmodSync(temp, 0o755);
const jest = spawn(process.execPath, [fileURLToPath(new URL('node_modules/jest/bin/jest.js', root)), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    // Jest's ESM needs the first flag; the second one suppresses Node's warning about it in every process.
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
  // While a test runs, jest's workers do not notice that jest has ended; nor does a process that a spec has frozen.
  killLeftovers(id);
  const server = process.env.RHYTHM_DATABASE_URL || process.env.DATABASE_URL;
  if ((interrupted || signal) && server) await clearRun(server, id);
  // The keeper of an interrupted run may still be stopping its server.
  for (let waited = 0; waited < 5_000 && readdirSync(temp).some((name) => name.startsWith('rhythm-pg-')); waited += 20) await pause(20);
  rmSync(temp, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit(interrupted === 'SIGINT' ? 130 : (code ?? 1));
});
