// The processes of isolated flows: what they are given, how they end, and what becomes of a turn that ends with them.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../libs/flow/index.js';
import { eventually, waitFor } from '../support/index.js';
import { exists, HOSTILE } from './children.js';
import { openPool, turnFor, turnNamed } from './turns.js';

const SMALL = { memoryBytes: 256 * 1024 * 1024, turnTimeoutMs: 2_000 };

describe('a process of isolated flows', () => {
  it('runs turns from their snapshots', async () => {
    const pool = openPool();
    const source = `const a = await Task.run('one', Inputs); console.log(a); return a + 1`;
    const first = await pool.run(turnFor(source, { inputs: '{"x":1}' })).outcome;
    expect(first.result).toEqual({
      status: 'suspended',
      effects: [{ kind: 'task', id: 1, name: 'one', input: '{"x":1}', options: {} }],
      groups: [],
      consumedSignals: [],
      fired: [],
      muted: [],
      cancelled: false,
    });
    const { snapshot } = first;
    const second = await pool.run(turnFor(source, { snapshot, numberAfter: 1 }, [{ kind: 'completed', id: 1, value: '41' }])).outcome;
    expect(second).toMatchObject({ result: { status: 'completed', output: '42', effects: [{ kind: 'log', message: '41' }] } });
    expect(pool.pids).toHaveLength(1);
  });

  it('may say that a call took a signal which the cancel of the same turn undid', async () => {
    const pool = openPool();
    const source = `await Signal.when('a'); await Signal.when('b'); await sleep(1)`;
    const { snapshot } = await pool.run(turnFor(source)).outcome;
    const signals = ['a', 'b'].map((name) => ({ kind: 'signal' as const, key: name, name }));
    const { result } = await pool.run(turnFor(source, { snapshot, numberAfter: 1 }, [...signals, { kind: 'cancel' }])).outcome;
    expect(result).toMatchObject({ status: 'failed', cancelled: true, consumedSignals: [{ key: 'a' }, { key: 'b', wait: 2 }] });
  });

  it('gets nothing of its worker: no environment, no descriptor but its channel, no folder, no options of Node', async () => {
    process.env.RHYTHM_SPEC_SECRET = 'secret';
    const pool = openPool();
    try {
      await pool.run(turnFor('return 1')).outcome;
    } finally {
      delete process.env.RHYTHM_SPEC_SECRET;
    }
    const [pid] = pool.pids;
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/[^\0]/);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    const own = new Set(readdirSync('/proc/self/fd').flatMap((fd) => linkOf(`/proc/self/fd/${fd}`)));
    const shared = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
    expect(shared.length).toBeGreaterThan(3);
    expect(shared.filter((link) => /^(socket|pipe):|^\/(?!dev\/null)/.test(link) && own.has(link))).toEqual([]);
  });

  it('refuses a state that is damaged or belongs to another program, and goes on', async () => {
    const pool = openPool();
    const source = `await Task.run('a')`;
    const { snapshot = '' } = (await pool.run(turnFor(source)).outcome) ?? {};
    await expect(pool.run(turnFor(`await Task.run('b')`, { snapshot })).outcome).rejects.toMatchObject({ code: 'FLOW_OTHER_PROGRAM' });
    await expect(pool.run(turnFor(source, { snapshot: snapshot.slice(0, -9) })).outcome).rejects.toMatchObject({ code: 'FLOW_SNAPSHOT' });
    const [pid] = pool.pids;
    expect((await pool.run(turnFor('return 2')).outcome).result).toMatchObject({ output: '2' });
    expect(pool.pids).toEqual([pid]);
  });

  it('fails the run, and goes on, when the virtual machine reaches a limit or the outcome is too large to send', async () => {
    const pool = openPool();
    const errorOf = async (source: string) => (await pool.run(turnFor(source)).outcome).result;
    expect(await errorOf('for (;;);')).toMatchObject({ status: 'failed', error: { code: 'FLOW_LIMIT_FUEL' } });
    expect(await errorOf(`const a = []; for (;;) a.push('x'.repeat(1000) + a.length)`)).toMatchObject({
      error: { code: 'FLOW_LIMIT_HEAP' },
    });
    const many = `for (let i = 0; i < 70; i++) Task.run('a', 'x'.repeat(1000000)); await sleep(1)`;
    const limits = { ...DEFAULT_LIMITS, heapBytes: 2 ** 30 };
    const { result } = await pool.run(turnFor(many, { limits })).outcome;
    expect(result.effects.length).toBe(0);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'RHYTHM_ISOLATED_SIZE' } });
    expect(pool.pids).toHaveLength(1);
  });

  it('is ended after its idle time, and after its last turn', async () => {
    const pool = openPool({ idleMs: 100 });
    await pool.run(turnFor('return 1')).outcome;
    await eventually(() => expect(pool.pids).toEqual([]));
    const once = openPool({ turnsPerProcess: 1 });
    await once.run(turnFor('return 1')).outcome;
    await eventually(() => expect(once.pids).toEqual([]));
    expect((await once.run(turnFor('return 2')).outcome).result).toMatchObject({ output: '2' });
  });

  it('that keeps much memory after a turn is replaced: its garbage must not count against the next run', async () => {
    const pool = openPool({ memoryBytes: 320 * 1024 * 1024 });
    await pool.run(turnFor('return 1')).outcome;
    const [pid] = pool.pids;
    const large = `const a = []; for (let i = 0; i < 50; i++) a.push('x'.repeat(900000).toUpperCase() + i); return a.length`;
    expect((await pool.run(turnFor(large)).outcome).result).toMatchObject({ output: '50' });
    await eventually(() => expect(exists(pid)).toBe(false));
  });

  it('leaves no zombie when the pool is closed, whatever it was doing', async () => {
    const pool = openPool({ processes: 2, place: HOSTILE });
    const spinning = pool.run(turnNamed('spin'));
    const stopped = expect(spinning.outcome).rejects.toMatchObject({ code: 'RHYTHM_ISOLATED_STOPPED' });
    await pool.run(turnNamed('good')).outcome;
    const { pids } = pool;
    await pool.close();
    await stopped;
    expect(pids.filter(exists)).toEqual([]);
    await expect(pool.run(turnNamed('good')).outcome).rejects.toMatchObject({ code: 'RHYTHM_ISOLATED_STOPPED' });
  });
});

describe('a turn whose process misbehaves', () => {
  it.each([
    ['spin', 'RHYTHM_ISOLATED_TIME', /longer than isolation.turnTimeout \(2000 ms\)/],
    ['grow-map', 'RHYTHM_ISOLATED_MEMORY', /more memory than isolation.memoryBytes \(268435456 bytes\)/],
    ['grow-buffers', 'RHYTHM_ISOLATED_MEMORY', /more memory than isolation.memoryBytes/],
    ['exit', 'RHYTHM_ISOLATED_ENDED', /code 3/],
    ['garbage', 'RHYTHM_ISOLATED_REPLY', /announces \d+ bytes/],
    ['huge', 'RHYTHM_ISOLATED_REPLY', /announces 2147483648 bytes/],
    ['twice', 'RHYTHM_ISOLATED_REPLY', /is not the outcome of a turn/],
    ['other-call', 'RHYTHM_ISOLATED_REPLY', /"id" of an effect is not a whole number/],
    ['not-allowed', 'RHYTHM_ISOLATED_REPLY', /allow\.tasks/],
  ])('by "%s" ends with it, and the next turn gets another process', async (workflow, code, message) => {
    const pool = openPool({ ...SMALL, place: HOSTILE });
    await pool.run(turnNamed('good')).outcome;
    const [pid] = pool.pids;
    const outcome = pool.run(turnNamed(workflow, 'return 1', { allow: { tasks: ['safe'] } })).outcome;
    await expect(outcome).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect((await pool.run(turnNamed('good')).outcome).result).toMatchObject({ output: '1' });
    expect(pool.pids).not.toContain(pid);
    expect(exists(pid)).toBe(false);
  });

  it('because someone killed or stopped it ends too', async () => {
    const pool = openPool({ ...SMALL, place: HOSTILE });
    for (const [signal, code] of [
      ['SIGKILL', 'RHYTHM_ISOLATED_ENDED'],
      ['SIGSTOP', 'RHYTHM_ISOLATED_TIME'],
    ] as const) {
      await pool.run(turnNamed('good')).outcome;
      const outcome = pool.run(turnNamed('spin')).outcome;
      process.kill(pool.pids[0], signal);
      await expect(outcome).rejects.toMatchObject({ code });
    }
  });

  it('does not hold up other workflows: those whose turns had to be ended have at most half of the processes', async () => {
    const pool = openPool({ ...SMALL, processes: 2, place: HOSTILE });
    let ended = 0;
    // All of them wait before the first has been ended.
    const spinning = Array.from({ length: 8 }, () => pool.run(turnNamed('spin')));
    for (const { outcome } of spinning) outcome.catch(() => ended++);
    await waitFor('the first of them to be ended', () => ended >= 2);
    const before = ended;
    for (let n = 0; n < 20; n++) await pool.run(turnNamed(`tenant ${n % 3}`)).outcome;
    // Six of them, one after another, take six times the limit; on both processes the others would have waited for half of them.
    expect(ended - before).toBeLessThan(3);
    for (const turn of spinning) turn.stop();
    await waitFor('all of them to be stopped', () => ended === spinning.length);
  });
});

/** Where a descriptor leads; nothing when it was closed meanwhile. */
function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return [];
  }
}
