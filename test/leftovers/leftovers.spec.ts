// A run of the specs leaves no process, folder or database behind, even when it is interrupted.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { isRunning } from '../../libs/embedded/index.js';
import { serverUrl, waitFor } from '../support/index.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// A whole run inside this one, on a machine that may be busy with others.
jest.setTimeout(120_000);
const nested: ChildProcess[] = [];
afterAll(() => {
  for (const child of nested) if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
});

describe('npm test', () => {
  it.each([
    ['passing', 0, '1 passed, 0 failed'],
    ['failing', 1, '0 passed, 1 failed'],
  ])('of a %s spec ends with %i and leaves nothing', async (name, code, counts) => {
    const run = startNested(`**/${name}.fixture.ts`, {});
    expect(await run.exited).toBe(code);
    expect(run.output().split('\n')).toContain(counts);
    const folder = dirname(JSON.parse(reportIn(run.output()) ?? '{}').data);
    expect(folder).toMatch(/rhythm-pg-/);
    expect(existsSync(dirname(folder))).toBe(false);
    expect(marked(run.id)).toEqual([]);
  });
});

describe('npm test, interrupted', () => {
  it('by Ctrl-C leaves no process and no folder', async () => {
    const run = await startNestedRun({});
    // A terminal sends the signal to the whole group.
    process.kill(-(run.child.pid as number), 'SIGINT');
    expect(await run.exited).toBe(130);
    await expectNothingLeft(run);
  });

  it('by a signal to its first process alone leaves no process and no folder', async () => {
    const run = await startNestedRun({});
    run.child.kill('SIGINT');
    expect(await run.exited).toBe(130);
    await expectNothingLeft(run);
  });

  it('drops its databases on a server that was given', async () => {
    const run = await startNestedRun({ RHYTHM_DATABASE_URL: serverUrl() });
    expect(await databasesOf(run.id)).toHaveLength(1);
    process.kill(-(run.child.pid as number), 'SIGINT');
    expect(await run.exited).toBe(130);
    expect(await databasesOf(run.id)).toEqual([]);
  });
});

interface NestedRun {
  child: ChildProcess;
  id: string;
  exited: Promise<number | null>;
  data: string;
  pids: number[];
}

function startNested(match: string, env: Record<string, string>) {
  const id = randomBytes(4).toString('hex');
  const { NODE_OPTIONS: _, RHYTHM_TEST_SERVER: __, RHYTHM_TEST_CHILD: ___, ...inherited } = process.env;
  const child = spawn(process.execPath, ['scripts/test.mjs', '--testMatch', match], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited, ...env, RHYTHM_TEST_RUN: id },
  });
  nested.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, id, exited, output: () => output };
}

async function startNestedRun(env: Record<string, string>): Promise<NestedRun> {
  const { child, id, exited, output } = startNested('**/endless.fixture.ts', env);
  await waitFor('the endless test to report', () => reportIn(output()) ?? child.exitCode !== null, { timeoutMs: 90_000 });
  const report = reportIn(output());
  if (!report) throw new Error(`The nested run ended before its test began:\n${output()}`);
  const { data, pids } = JSON.parse(report) as { data: string; pids: number[] };
  const postmaster = existsSync(data) ? [Number(readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n')[0])] : [];
  return { child, id, exited, data, pids: [...pids, ...postmaster] };
}

/** What the fixtures report about themselves. */
function reportIn(output: string): string | undefined {
  return /REPORT (.*)\n/.exec(output)?.[1];
}

/** The keeper ends the server a moment after the last lease is gone. */
async function expectNothingLeft(run: NestedRun): Promise<void> {
  expect(run.pids).toHaveLength(5);
  const folder = dirname(run.data);
  const keeper = Number(/rhythm-pg-(\d+)-/.exec(folder)?.[1]);
  await waitFor('every process of the run to end', () => [...run.pids, keeper].every((pid) => !isRunning(pid)));
  // The temp folder of the whole run, with whatever its specs had made in it.
  expect(dirname(folder)).toMatch(/rhythm-run-/);
  expect(existsSync(dirname(folder))).toBe(false);
  expect(marked(run.id)).toEqual([]);
}

/** Processes that carry the id of the run in their environment. */
function marked(id: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(id);
    } catch {
      return false;
    }
  });
}

async function databasesOf(id: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    return (await client.query('select datname from pg_database where datname like $1', [`rhythm_test_${id}_%`])).rows;
  } finally {
    await client.end();
  }
}
