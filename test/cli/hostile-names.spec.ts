// Every command with names, tags, logs, messages and file names that try to control the terminal or to forge a line.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CliContext } from '../../src/cli/command.js';
import { buildProgram } from '../../src/cli/program.js';
import { runCli } from '../../src/cli/run-cli.js';
import { terminalOf } from '../../src/cli/terminal.js';
import { Task, type TaskContext } from '../../src/index.js';
import { startApp, type TestApp } from '../e2e/start-app.js';
import { eventually, useTestDatabase } from '../support/index.js';

// Clears the screen, sets the title, colours by C1, begins a line, goes back to its start, reverses the text.
const HOSTILE = '\u001b[2J\u001b]0;title\u0007\u009b31m\nFORGED line\rFORGED\u202eback\u0085';
const named = (name: string) => `${name}${HOSTILE}`;
// As a flow may have it: what changes the direction of text must be an escape there.
const quoted = (name: string) => JSON.stringify(named(name)).replaceAll('\u202e', '\\u202e');

@Injectable()
class HostileTasks {
  @Task(named('greet'), { queue: named('queue') })
  async greet(_: unknown, ctx: TaskContext): Promise<string> {
    await ctx.heartbeat(named('progress'));
    return named('result');
  }

  @Task(named('fail'), { retry: { maxAttempts: 1 } })
  fail(): never {
    throw Object.assign(new Error(named('message')), { code: named('code'), data: named('data'), name: named('ErrorName') });
  }
}

const WAITS = `
const label${'\u0061'} = ${quoted('variable')};
await Task.run(${quoted('greet')}, ${quoted('input')});
console.log(${quoted('log')});
await Signal.when(${quoted('signal')});
return await Task.run(${quoted('greet')}, labela);`;
const FAILS = `throw new Error(${quoted('thrown')} + ${quoted('again')})`;

const database = useTestDatabase();
const environment = { ...process.env };
let app: TestApp;
let folder: string;
const ids = { waits: named('waits'), fails: named('fails'), task: named('task'), unserved: named('unserved'), paused: named('paused') };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-hostile-'));
  Object.assign(process.env, { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema });
  app = await startApp(
    database,
    {
      flows: [
        { name: named('flow'), source: WAITS },
        { name: named('failing'), source: FAILS },
      ],
      externalTasks: [named('no such task')],
      worker: { id: named('worker'), queues: ['default', named('queue')] },
    },
    { providers: [HostileTasks] },
  );
  const tags = [named('tag')];
  await app.executions.start(named('flow'), named('input'), { id: ids.waits, tags });
  await app.executions.start(named('failing'), {}, { id: ids.fails, tags });
  await app.executions.start(named('fail'), {}, { id: ids.task });
  await app.executions.start(named('fail'), {}, { id: ids.unserved, queue: named('no worker') });
  await app.executions.start(named('flow'), {}, { id: ids.paused, delay: '1h' });
  await app.executions.start(named('no such task'), {}, { id: named('lane'), type: 'task' });
  await app.signals.send(ids.waits, named('early'), named('payload'));
  await eventually(async () => {
    expect((await app.executions.get(ids.fails)).status).toBe('failed');
    expect((await app.executions.get(ids.task)).status).toBe('failed');
    expect((await app.executions.inspect(ids.waits)).text).toContain('waits for signal');
    expect((await app.executions.status()).unserved).toHaveLength(1);
  });
});
afterAll(() => {
  for (const key of ['RHYTHM_DATABASE_URL', 'RHYTHM_DATABASE_SCHEMA', 'FORCE_COLOR', 'COLUMNS']) delete process.env[key];
  Object.assign(process.env, environment);
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content: string) => {
  const path = join(folder, named(name).replaceAll('/', ''));
  writeFileSync(path, content);
  return path;
};

// What is written, without the colours of a terminal that has them.
async function output(args: readonly string[], env: Record<string, string>): Promise<string> {
  const out = new PassThrough({ encoding: 'utf8' });
  const err = new PassThrough({ encoding: 'utf8' });
  const interrupt = new AbortController();
  await runCli(args, { out, err, env }, interrupt.signal);
  return `${out.read() ?? ''}${err.read() ?? ''}`;
}

// Each command with everything from outside that it may print: what exists, what does not, what is wrong.
const COMMANDS: Record<string, () => string[][]> = {
  list: () => [
    [],
    ['--all'],
    ['--name', named('flow')],
    ['--status', named('status')],
    ['--since', named('since')],
    ['--cursor', named('cursor')],
  ],
  show: () => [
    [ids.waits],
    [ids.waits, '--source'],
    [ids.fails],
    [ids.task],
    [ids.unserved],
    [ids.paused],
    [named('nobody')],
    [ids.waits, '--turn', '3'],
  ],
  status: () => [[], ['--since', named('since')]],
  waiting: () => [[], [named('flow')], [named('nothing'), '--workflow-version', named('version')]],
  start: () => [
    [named('nothing')],
    [named('flow'), '--id', named('again'), '--tag', named('tag')],
    [named('failing'), '--wait', '10s'],
    [named('flow'), '--input', named('{')],
    [named('greet'), '--type', 'task', '--queue', named('queue'), '--wait', '10s'],
    [named('flow'), '--type', named('type')],
    [named('flow'), '--delay', named('soon')],
    [named('flow'), '--flow-version', named('version')],
  ],
  signal: () => [
    [named('nobody'), named('signal')],
    [ids.task, named('signal')],
    [ids.waits, named('other'), '--key', named('key')],
    [ids.waits, named('other'), '--key', named('key')],
    [ids.waits, 'x', named('{')],
  ],
  cancel: () => [[named('nobody')], [ids.fails, named('nobody')], ['--name', named('flow')], ['--all', named('both')]],
  pause: () => [[named('nobody')], [ids.task], [ids.paused]],
  resume: () => [[named('nobody')], [ids.task], [ids.paused]],
  retry: () => [[named('nobody')], [ids.waits], [ids.waits, ids.paused], ['--name', named('failing'), '--yes']],
  restart: () => [[named('nobody')], [ids.waits], [ids.task, '--input', named('{')], [ids.task, '--wait', '10s']],
  erase: () => [
    [named('nobody'), '--yes'],
    [ids.waits, '--yes'],
    ['--tag', named('nothing'), '--yes'],
    [ids.unserved],
    ['--tag', named('tag')],
  ],
  activate: () => [[named('flow')], [named('nothing')], [named('flow'), named('version')]],
  check: () => [
    [named('nowhere')],
    [`${folder}/*${named('none')}*`],
    [file('wrong.flow', `await Tsk.run(${quoted('x')})\nlet \u009b = 1;\nvar ${'b'} = \`${HOSTILE}\``) && folder],
  ],
  run: () => [
    [named('nowhere.flow')],
    [
      file(
        'logs.flow',
        `console.log(${quoted('log')}); await Task.run(${quoted('stub')}, ${quoted('input')}); return { [${quoted('key')}]: ${quoted('value')} }`,
      ),
      '--tasks',
      file('stubs.json', `{ ${quoted('stub')}: 1 }`),
    ],
    [file('throws.flow', FAILS)],
    [file('stuck.flow', `await Signal.when(${quoted('signal')})`)],
    [file('calls.flow', `await Workflow.run(${quoted('child')})`)],
    [file('no-stub.flow', `await Task.run(${quoted('missing')})`)],
    [file('syntax.flow', `let a = ;\n// ${'\u009b'}`)],
    [
      file('signals.flow', `return await Signal.when(${quoted('signal')})`),
      '--signals',
      JSON.stringify({ [named('signal')]: named('payload') }),
    ],
    [file('inputs.flow', 'return 1'), '--inputs', named('@nowhere')],
  ],
  init: () => [[join(folder, named('project').replaceAll('/', ''))]],
  worker: () => [
    [named('nowhere.js')],
    [file('empty.mjs', 'export const x = 1;'), '--module', named('AppModule')],
    [file('throws.mjs', `throw new Error(${quoted('boot')})`)],
  ],
  migrate: () => [
    ['--status'],
    ['--dry-run'],
    ['--database-url', named('nothing')],
    ['--database-url', `postgres://u:p@127.0.0.1:1/${HOSTILE}`],
  ],
  doctor: () => [[], ['--config'], ['--config', named('nowhere.toml')]],
  cleanup: () => [
    ['--older-than', named('then')],
    ['--older-than', '0s', '--status', named('status')],
    ['--older-than', '0s', '--dry-run'],
  ],
  bench: () => [[named('mode')], ['worker', '--queues', named('queue').repeat(3)]],
  completion: () => [[named('shell')], ['bash']],
};

function expectHarmless(text: string): void {
  const controls = new Set(text.match(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu));
  controls.delete('\n');
  expect([...controls].map((control) => control.codePointAt(0)!.toString(16))).toEqual([]);
  expect(text.split('\n').filter((each) => each.trimStart().startsWith('FORGED'))).toEqual([]);
}

describe('names that control the terminal or forge lines', () => {
  const streams = { out: new PassThrough(), err: new PassThrough(), env: {} };
  const context = { terminal: terminalOf(streams), flags: {}, action: () => async () => {} } as unknown as CliContext;
  const commands = buildProgram(streams, context).commands.map((command) => command.name());

  it.each(commands)('are made visible by rhythm %s', async (command) => {
    for (const args of COMMANDS[command]!()) {
      const plain = await output([command, ...args], {});
      if (plain.length === 0) throw new Error(`rhythm ${command} ${JSON.stringify(args)} printed nothing`);
      expectHarmless(plain);
      const coloured = await output([command, ...args], { FORCE_COLOR: '1', COLUMNS: '100' });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that we use
      expectHarmless(coloured.replace(/\u001b\[(?:1|2|22|3[1-69]|39)m/g, ''));
      expectHarmless(await output([command, ...args, '--json'], {}));
    }
  });

  it('are made visible where the command itself is wrong', async () => {
    for (const args of [
      [named('sho')],
      ['show', named('--flag')],
      ['list', `--limit=${named('many')}`],
      ['help', named('shwo')],
      [named('--x'), '--json'],
    ])
      expectHarmless(await output(args, {}));
    mkdirSync(join(folder, 'project'));
  });
});
