// `npm run demo`: runs to its end, and leaves no process behind, even when it is interrupted.

import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, waitFor } from '../support/index.js';

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGTERM');
});

function startDemo(): { child: ChildProcess; output(): string; exit: Promise<number | null> } {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['scripts/demo.mjs'], { env: { ...env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  running.add(child);
  const exit = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  return { child, output: () => output, exit };
}

function pidsIn(output: string): number[] {
  return [...output.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the demo', () => {
  it('finishes every order exactly once although its worker is killed', async () => {
    const { output, exit } = startDemo();
    const code = await exit;
    expect({ code, output: output() }).toMatchObject({ code: 0, output: expect.stringContaining('Every order finished exactly once.') });
    expect(output()).toMatch(/order-01 {2}sample-app\/flows\/order\.flow:\d+/);
    expect(output()).toMatch(/kill -9 \d+/);
    expect(output()).not.toContain('✗');
    const pids = pidsIn(output());
    expect(pids.length).toBeGreaterThanOrEqual(3);
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
  }, 90_000);

  it('leaves nothing behind on Ctrl-C', async () => {
    const { child, output, exit } = startDemo();
    await waitFor('the shop and its worker to run', () => pidsIn(output()).length >= 2, { timeoutMs: 40_000 });
    child.kill('SIGINT');
    expect(await exit).toBe(130);
    await eventually(() => expect(pidsIn(output()).filter(isAlive)).toEqual([]));
  }, 60_000);
});
