// Inspecting and controlling executions from a terminal: a real database, a real worker, and real processes wherever a terminal, a
// signal or a pipe is involved.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Task } from '../../src/index.js';
import { startApp, type TestApp } from '../e2e/start-app.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { callRhythm as cli } from './call-cli.js';
import { type CliOptions, rhythm, startRhythm } from './spawn-cli.js';

let broken = true;

@Injectable()
class Tasks {
  @Task('price')
  price({ n }: { n: number }) {
    return n * 10;
  }

  @Task('fragile', { retry: { maxAttempts: 2, delay: 1 } })
  fragile() {
    if (broken) throw new Error('the carrier is unreachable');
    return 'shipped';
  }
}

const ORDER = `const total = await Task.run("price", { n: Inputs.n })
async function approve(limit) {
  const answer = await Signal.when("approval", { timeout: "24h" })
  return answer.ok && total < limit
}
console.log("asking for", total)
const ok = await approve(1000)
return { total, ok }`;

const FLOWS = [
  { name: 'order', source: ORDER },
  { name: 'shop', source: 'return await Workflow.run("order", Inputs, { id: Inputs.id })' },
  { name: 'ships', source: 'const before = 1\nreturn await Task.run("fragile", { before })' },
];

const database = useTestDatabase();
let app: TestApp;
let env: Record<string, string>;
beforeAll(async () => {
  app = await startApp(database, { flows: FLOWS }, { providers: [Tasks] });
  env = { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema };
  Object.assign(process.env, env);
});

const spawned = (args: string[], options: CliOptions = {}) => rhythm(args, { ...options, env: { ...env, ...options.env } });
const data = async (args: string[]) => {
  const { out } = await cli([...args, '--json']);
  return JSON.parse(out);
};
const waiting = (id: string) =>
  eventually(async () => expect((await app.executions.inspect(id)).branches[0]?.waitsFor).toMatch(/signal "approval"/));
const ended = (id: string) => app.executions.result(id, { timeout: '10s' }).catch((error: Error) => error);

describe('rhythm start, signal and show', () => {
  it('start a run, show the line it waits at with its variables, and let it continue', async () => {
    expect(await spawned(['start', 'order', '--input', '{"n":7}', '--id', 'o-1', '--tag', 'cli', 'blue'])).toMatchObject({
      code: 0,
      out: 'o-1\n',
      err: 'Started order.\n',
    });
    expect(await data(['start', 'order', '--input', '{"n":7}', '--id', 'o-1'])).toEqual({
      ok: true,
      command: 'start',
      data: { id: 'o-1', created: false },
    });
    await waiting('o-1');
    const { code, out } = await spawned(['show', 'o-1']);
    expect(code).toBe(0);
    expect(out).toMatch(/^workflow order {2}o-1\nstatus {4}suspended/);
    expect(out).toMatch(/Waits for\n {2}signal "approval", until \S+Z \(in 2[34]h\)/);
    expect(out).toMatch(/→ 3 │ {3}const answer = await Signal\.when\("approval"/);
    expect(out).toMatch(/→ 7 │ const ok = await approve\(1000\)/);
    expect(out).toMatch(/Variables\n {2}approve, line 3\n(?: {4}.*\n)* {4}limit = 1000/);
    expect(out).toMatch(/total = 70/);
    expect(out).toMatch(/Timeline\n {2}\s+\+0ms {2}created\n[\s\S]* log +"asking for 70"/);
    expect(out).toMatch(/step-completed {3}price/);
    expect(out).toMatch(/Called\n {2}└─ price {2}completed .* o-1:1\n/);

    const json = await data(['show', 'o-1']);
    expect(json).toMatchObject({
      ok: true,
      data: {
        execution: { id: 'o-1', tags: ['cli', 'blue'], input: { n: 7 } },
        inspection: { branches: [{ stack: [{ line: 3 }, { line: 7 }] }] },
        source: ORDER,
        tree: { children: [{ name: 'price' }] },
      },
    });
    expect(await spawned(['signal', 'o-1', 'approval', '{"ok":true}'])).toMatchObject({ code: 0, err: 'Sent "approval" to o-1.\n' });
    expect(await ended('o-1')).toEqual({ total: 70, ok: true });
    expect(await cli(['show', 'o-1'])).toMatchObject({
      out: expect.stringMatching(/status {4}completed\n[\s\S]*result {4}\{"ok":true,"total":70\}|result {4}\{"total":70,"ok":true\}/),
    });
  });

  it('wait for the result with --wait, and fail if the run fails', async () => {
    const { code, out } = await cli(['start', 'price', '--type', 'task', '--input', '{"n":4}', '--wait', '10s']);
    expect([code, JSON.parse(out)]).toEqual([0, 40]);
    expect(await cli(['start', 'ships', '--id', 'w-1', '--wait', '10s'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Execution "w-1" failed: TaskError: the carrier is unreachable'),
    });
    expect(await cli(['start', 'order', '--input', '{"n":1}', '--id', 'w-2', '--wait', '200ms'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/error: Execution "w-2" has not ended after 200ms: it is \w+\. It continues\. Wait longer with --wait/),
    });
    expect(await data(['start', 'order', '--input', '{"n":1}', '--id', 'w-2', '--wait', '1ms'])).toMatchObject({
      ok: false,
      error: { code: 'RHYTHM_RESULT_TIMEOUT' },
    });
    expect(await cli(['start', 'order', '--id', 'w-3', '--wait', 'long'])).toMatchObject({ code: 2 });
    await expect(app.executions.get('w-3')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    const shown = await cli(['show', 'w-1']);
    expect(shown.out).toMatch(/Error\n {2}TaskError: the carrier is unreachable/);
    expect(shown.out).toMatch(/→ 2 │ return await Task\.run/);
    expect(shown.out).toMatch(/fragile {2}failed/);
    expect((await cli(['show', 'w-1:1'])).out).toMatch(/attempts {2}2 failed/);
  });

  it.each<[string[], number, RegExp]>([
    [['show', 'nobody'], 1, /No execution has the id "nobody"/],
    [['show', 'nobody', '--json'], 1, /^\{"ok":false,"command":"show","error":\{"code":"RHYTHM_NOT_FOUND","message":"No execution/],
    [['start', 'ordr'], 1, /Did you mean "order"\?.*pass --type task/],
    [['start', 'order', '--at', 'noon'], 2, /--at: "noon" is not a valid date/],
    [['start', 'order', '--input', '{"n": }'], 2, /--input is not valid JSON[\s\S]*1 \| \{"n": \}\n.*\^/],
    [['signal', 'nobody', 'approval'], 1, /No execution has the id/],
    [['signal', 'o-1', 'approval'], 1, /it is completed/],
    [['signal', 'o-1'], 2, /missing required argument 'name'/],
    [['cancel', 'o-1'], 1, /it is completed. It has already ended/],
    [['retry', 'o-1'], 1, /Only a failed execution can be retried/],
    [['lisst'], 2, /Did you mean list\?/],
    [['list', '--stats', 'x'], 2, /Did you mean --status\?/],
    [['list', '--status', 'faild'], 2, /Did you mean "failed"\?/],
    [['list', '--since', 'yesterday'], 2, /--since: "yesterday" is neither a duration nor a date\. .*7d.*2030-01-31T/],
    [['list', '--before', '2030-13-45'], 2, /--before: "2030-13-45" is not a valid date/],
    [['list', '--limit', 'x', '--json'], 2, /^\{"ok":false,"command":"list","error":\{"code":"RHYTHM_USAGE"/],
    [['list', '--nonsense', '--json'], 2, /\{"ok":false,"command":"","error":\{"code":"RHYTHM_USAGE","message":"unknown option/],
  ])('say what is wrong with %j', async (args, code, message) => {
    const ended = await cli(args);
    expect(ended.out + ended.err).toMatch(message);
    expect(ended.code).toBe(code);
  });
});

describe('rhythm cancel, pause, resume and retry', () => {
  it('change runs by id', async () => {
    await app.executions.start('order', { n: 1 }, { id: 's-1' });
    await waiting('s-1');
    expect(await cli(['pause', 's-1'])).toMatchObject({ code: 0, err: '1 execution paused.\n' });
    expect((await cli(['list', '--status', 'paused'])).out).toMatch(/s-1 +order +paused/);
    expect(await cli(['resume', 's-1'])).toMatchObject({ code: 0, err: '1 execution resumed.\n' });
    expect(await cli(['resume', 's-1'])).toMatchObject({ code: 1, err: expect.stringContaining('Only a paused execution') });
    expect(await cli(['cancel', 's-1', '--reason', 'a test'])).toMatchObject({ code: 0, err: '1 execution asked to cancel.\n' });
    expect(await ended('s-1')).toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
  });

  it('restart an ended run with the same input or another, and only an ended one', async () => {
    await app.executions.start('order', { n: 1 }, { id: 're-1' });
    await waiting('re-1');
    expect(await cli(['restart', 're-1'])).toMatchObject({ code: 1, err: expect.stringContaining('Cancel it first') });
    await cli(['cancel', 're-1']);
    await ended('re-1');
    expect(await cli(['restart', 're-1'])).toMatchObject({ code: 0, err: 'Restarted re-1.\n' });
    await waiting('re-1');
    await cli(['cancel', 're-1']);
    await ended('re-1');
    expect(await data(['restart', 're-1', '--input', '{"n":7}'])).toEqual({ ok: true, command: 'restart', data: { id: 're-1' } });
    await waiting('re-1');
    expect((await app.executions.get('re-1')).input).toEqual({ n: 7 });
    const replaced = await data(['start', 'order', '--id', 're-1', '--input', '{"n":8}', '--on-conflict', 'cancel-running']);
    expect(replaced).toMatchObject({ data: { id: 're-1', created: true } });
    expect((await app.executions.get('re-1')).input).toEqual({ n: 8 });
    expect(await cli(['start', 'order', '--id', 're-1', '--on-conflict', 'fail', '--input', '{"n":8}'])).toMatchObject({
      code: 1,
      err: expect.stringContaining("onConflict is 'fail'"),
    });
  });

  it('refuse to change what a filter finds without a terminal to ask in, and do it with --yes', async () => {
    await app.executions.startMany(Array.from({ length: 12 }, (_, n) => ({ name: 'ships', options: { id: `b-${n}`, tags: ['bulk'] } })));
    for (let n = 0; n < 12; n++) await ended(`b-${n}`);
    const refused = await spawned(['retry', '--status', 'failed', '--tag', 'bulk', '--since', '1h']);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/Retry 12 executions: b-\d+ \(ships\), .*…\?\nThere is no terminal to ask in: pass --yes/);
    expect(await app.executions.get('b-3')).toMatchObject({ status: 'failed' });

    broken = false;
    const done = await data(['retry', '--status', 'failed', '--name', 'ships', '--tag', 'bulk', '--since', '1h', '--yes']);
    expect(done).toEqual({ ok: true, command: 'retry', data: { matched: 12, done: 12, failed: [] } });
    for (let n = 0; n < 12; n++) expect(await ended(`b-${n}`)).toBe('shipped');
    expect(await cli(['retry', '--tag', 'bulk', '--yes'])).toMatchObject({ code: 0, err: 'No executions match.\n' });
  });

  it('ask in a terminal, and do nothing without a yes', async () => {
    await app.executions.start('order', { n: 1 }, { id: 'a-1', tags: ['asked'] });
    await waiting('a-1');
    const no = startRhythm(['cancel', '--tag', 'asked'], { env, columns: 100 });
    await no.prints(/Cancel 1 execution: a-1 \(order\)\? \[y\/N\]/);
    no.type('\n');
    expect(await no.ended).toMatchObject({ code: 1, out: expect.stringContaining('Nothing was changed.') });
    expect(await app.executions.get('a-1')).toMatchObject({ status: 'suspended' });
    const away = startRhythm(['cancel', '--tag', 'asked'], { env, columns: 100 });
    await away.prints(/\[y\/N\]/);
    away.type('\u0003');
    expect((await away.ended).code).toBe(130);
    expect(await app.executions.get('a-1')).toMatchObject({ status: 'suspended' });
    const yes = startRhythm(['cancel', '--tag', 'asked'], { env, columns: 100 });
    await yes.prints(/\[y\/N\]/);
    yes.type('y\n');
    expect(await yes.ended).toMatchObject({ code: 0, out: expect.stringContaining('1 execution asked to cancel.') });
    expect(await ended('a-1')).toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
  });

  it('refuse to run without ids or a filter', async () => {
    expect(await cli(['cancel'])).toMatchObject({ code: 2, err: expect.stringContaining('Which executions?') });
    expect(await cli(['cancel', 'x', '--all'])).toMatchObject({ code: 2, err: expect.stringContaining('not both') });
    expect(await cli(['retry', '--status', 'completed', '--yes'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Choose from failed'),
    });
    const some = await cli(['pause', 'nobody', 'o-1']);
    expect(some.code).toBe(1);
    expect(some.err).toMatch(/nobody[\s\S]*o-1[\s\S]*0 executions paused, 2 failed/);
  });
});

describe('rhythm list and status', () => {
  it('list by filter and page by page', async () => {
    expect((await data(['list', '--tag', 'bulk', '--limit', '5'])).data.items).toHaveLength(5);
    const page = await cli(['list', '--tag', 'bulk', '--limit', '5']);
    const [, cursor] = /--cursor (\S+)/.exec(page.err) ?? [];
    const next = await data(['list', '--tag', 'bulk', '--limit', '50', '--cursor', cursor as string]);
    expect(next.data.items).toHaveLength(7);
    expect(next.data.next).toBeUndefined();
    expect(await cli(['list', '--all', '--name', 'nothing'])).toMatchObject({ code: 0, out: '', err: 'No executions match.\n' });
    expect((await data(['list', '--parent', 'o-1'])).data.items).toMatchObject([{ id: 'o-1:1', name: 'price', type: 'task' }]);
  });

  it('list executions without a parent, and children with --all', async () => {
    const roots = await data(['list', '--limit', '1000']);
    expect(roots.data.items).toContainEqual(expect.objectContaining({ id: 'o-1', parentId: null }));
    expect(roots.data.items.filter(({ parentId }: { parentId: string | null }) => parentId !== null)).toEqual([]);
    const all = await data(['list', '-a', '--limit', '1000']);
    expect(all.data.items).toEqual(expect.arrayContaining([...roots.data.items, expect.objectContaining({ id: 'w-1:1' })]));
    expect(await cli(['list', '--name', 'fragile'])).toMatchObject({
      code: 0,
      out: '',
      err: 'No executions match. Executions that others called are listed with --all.\n',
    });
    expect((await cli(['list', '--all', '--name', 'fragile'])).out).toMatch(/^w-1:1 +fragile +failed +task/m);
  });

  it('fit a narrow terminal, use colours in a terminal, and are complete and without colours in a pipe', async () => {
    const long = 'x'.repeat(60);
    await app.executions.start('order', { n: 1 }, { id: 'narrow-1', tags: [long] });
    const piped = await spawned(['list', '--tag', long]);
    expect(piped.out).toMatch(new RegExp(`^ID +NAME +STATUS +TYPE +QUEUE +AGE +TOOK +DETAILS\nnarrow-1 +order +.*${long}\n$`));
    expect(piped.out).not.toContain('\u001b[');
    const widths = [70, 40, 24];
    const [colourless, status, ...lists] = await Promise.all([
      spawned(['list', '--tag', long], { columns: 100, env: { NO_COLOR: '1' } }),
      spawned(['status'], { columns: 40 }),
      ...widths.map((columns) => spawned(['list', '--tag', long], { columns })),
    ]);
    for (const [index, { out }] of lists.entries()) {
      expect(out).toContain('\u001b[');
      const lines = plain(out);
      expect(lines.join('\n')).toContain('narrow-1');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(widths[index]!);
    }
    expect(colourless!.out).toContain('narrow-1');
    expect(colourless!.out).not.toContain('\u001b[');
    const narrow = plain(status!.out);
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  it('show the schema, the queues and the workers that serve them, and the versions in use', async () => {
    await app.executions.start('price', { n: 1 }, { queue: 'no-worker-here', id: 'unserved' });
    const { out } = await cli(['status']);
    expect(out).toMatch(/^Schema "\w+" version 1 \(this package needs 1\)/);
    expect(out).toMatch(/STATUS +COUNT\n(?:.*\n)*completed +\d+/);
    expect(out).toMatch(/no-worker-here +1 +0 +0 +\S+ +no worker/);
    expect(out).toMatch(/default +.* 1 worker/);
    expect(out).toMatch(/order +[0-9a-f]{12} +\d+/);
    const { data: status } = await data(['status']);
    expect(status).toMatchObject({ schema: { version: 1, needed: 1 }, workers: [{ queues: ['default'] }] });
    expect(status.counts.completed).toBeGreaterThan(12);
  });

  it('repeat with --watch until Ctrl-C, which ends them with 130', async () => {
    const watch = startRhythm(['status', '--json', '--watch', '50ms'], { env });
    await watch.prints(/(\{.*\}\n){3}/);
    watch.signal('SIGINT');
    expect((await watch.ended).code).toBe(130);
    for (const line of watch.out.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ ok: true, command: 'status' });
    await app.executions.start('order', { n: 1 }, { id: 'watched' });
    await waiting('watched');
    const show = startRhythm(['show', 'watched', '--watch', '50ms'], { env });
    await show.prints(/Waits for/);
    await app.signals.send('watched', 'approval', { ok: true });
    expect(await show.ended).toMatchObject({ code: 0, out: expect.stringMatching(/result {4}\{/) });
    const list = startRhythm(['list', '--watch'], { env, columns: 100 });
    await list.prints(/watched/);
    list.type('\u0003');
    expect(await list.ended).toMatchObject({ code: 130, out: expect.stringContaining('\u001b[2J') });
  });

  it('end without an error when the reader closes the pipe', async () => {
    const list = startRhythm(['list', '--watch', '50ms', '--limit', '1000'], { env });
    await list.prints(/ID/);
    list.child.stdout?.destroy();
    expect((await list.ended).code).toBe(0);
    expect(list.err).toBe('');
  });
});

describe('rhythm activate', () => {
  it('lists versions and makes an older one current', async () => {
    const second = await startApp(database, { role: 'api', flows: [{ name: 'order', source: 'return "second"' }] });
    await second.close();
    const { data: before } = await data(['activate', 'order']);
    expect(before.versions).toMatchObject([{ current: true }, { current: false }]);
    const old = before.versions[1].version as string;
    expect(await cli(['activate', 'order', old.slice(0, 9)])).toMatchObject({
      code: 0,
      err: expect.stringContaining(`Version ${old.slice(0, 12)} of "order" is now current`),
    });
    expect((await cli(['activate', 'order'])).out).toMatch(new RegExp(`VERSION.*\n${old.slice(0, 12)} +current`));
    expect(await cli(['activate', 'order', 'ffffffff'])).toMatchObject({ code: 2, err: expect.stringContaining('No version of workflow') });
    expect(await cli(['activate', 'ordr'])).toMatchObject({ code: 1, err: expect.stringContaining('Did you mean "order"?') });
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches colour codes
const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]/g;

function plain(output: string): string[] {
  return output.replace(COLOURS, '').split(/\r?\n/);
}
