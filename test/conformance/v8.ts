// Runs programs in V8 (Node 24), all of them in one child process.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ensureOracle } from '../oracle/ensure-oracle.js';
import type { Case } from './golden.js';
import type { Outcome } from './outcome.js';
import { withShow } from './show.js';

/** No program of these may run forever in V8. */
const TIMEOUT_MS = 120_000;

/** The outcome of each case in V8, in their order. */
export async function runInV8(cases: readonly Case[]): Promise<Outcome[]> {
  const node = await ensureOracle();
  const request = JSON.stringify(cases.map(({ source, script }) => ({ source: withShow(source), script })));
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'v8-child.mjs')];
  return new Promise((resolve, reject) => {
    const options = { env: { PATH: process.env.PATH, TZ: 'UTC' }, maxBuffer: 1 << 30, timeout: TIMEOUT_MS };
    const child = execFile(node, args, options, (error, stdout) => (error ? reject(error) : resolve(JSON.parse(stdout))));
    child.stdin?.end(request);
  });
}
