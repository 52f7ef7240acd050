// A flow with an allow-list can use only the tasks, workflows and queues on it, however it names them.
import { describe, expect, it } from '@jest/globals';
import { compile, type FlowAllowList, restoreRun, startRun } from '../../libs/flow/index.js';
import { CONTEXT, turnOf } from '../support/flow-driver.js';

const ALLOW: FlowAllowList = { tasks: ['mail'], workflows: ['child'], queues: ['slow'] };

function runWith(source: string, allow: FlowAllowList = ALLOW) {
  return turnOf(startRun(compile(source), { context: CONTEXT, allow, inputs: '{"name":"charge"}' }));
}

describe('an allow-list', () => {
  it.each([
    `await Task.run('mail')`,
    `await Task.run('mail', 1, { queue: 'slow' })`,
    `await task('mail')`,
    `await Workflow.run('child', 1, { queue: 'slow' })`,
  ])('allows %s', (source) => {
    expect(runWith(source)).toMatchObject({ status: 'suspended', effects: [{ id: 1 }] });
  });

  it.each([
    `await Task.run('charge')`,
    `await Task.run(Inputs.name)`,
    `await Task.run('cha' + 'rge')`,
    `await task('charge')`,
    `const { run } = Task; await run('charge')`,
    `await Promise.all(['charge'].map(Task.run))`,
    `await Promise.try(Task.run, 'charge')`,
    `await Promise.resolve('charge').then(Task.run)`,
    `await new Promise((done) => done('charge')).then(task)`,
    `await ['charge'].reduce((_, name) => Task.run(name), 0)`,
    `await Task.run('Mail')`,
    `await Task.run('mail ')`,
    `await Task.run('mail\\u0000')`,
    `await Task.run('\\u006dai\\u006c2')`,
    `await Task.run('__proto__')`,
    `await Task.run('constructor')`,
    `await Task.run('child')`,
    `await Workflow.run('mail')`,
    `await Workflow.run('charge')`,
    `await Workflow.run('constructor')`,
    `await Task.run('mail', 1, { queue: 'fast' })`,
    `await Task.run('mail', 1, { queue: 'length' })`,
    `await Workflow.run('child', 1, { queue: 'fast' })`,
    `await Task.run(['mail'])`,
    `await Task.run({ toString: () => 'mail' })`,
    `let n = 0; await Task.run({ toString: () => (n++ ? 'charge' : 'mail') })`,
    `const o = JSON.parse('{"__proto__":{"queue":"fast"}}'); await Task.run('mail', 1, o)`,
  ])('refuses %s', (source) => {
    expect(runWith(source)).toMatchObject({ status: 'failed', error: { name: 'TypeError' }, effects: [] });
  });

  it('holds when the refusal is caught', () => {
    const result = runWith(`for (let i = 0; i < 3; i++) try { await Task.run('charge') } catch {} return 'went on'`);
    expect(result).toMatchObject({ status: 'completed', output: '"went on"', effects: [] });
  });

  it('is shown in the message', () => {
    expect(runWith(`await Task.run('charge')`)).toMatchObject({
      error: { message: 'Task "charge" is not allowed for this flow: its allow.tasks lists mail' },
    });
    expect(runWith(`await Workflow.run('charge')`, { workflows: [] })).toMatchObject({
      error: { message: expect.stringContaining('its allow.workflows lists nothing') },
    });
  });

  it('that is empty allows nothing', () => {
    for (const source of [`await Task.run('mail')`, `await Task.run('')`, `await Task.run(undefined)`]) {
      expect(runWith(source, { tasks: [] })).toMatchObject({ status: 'failed', effects: [] });
    }
  });

  it('is passed in again at a restore, and the new one applies', () => {
    const program = compile(`await Task.run('mail'); await Task.run('mail')`);
    const run = startRun(program, { context: CONTEXT, allow: ALLOW });
    turnOf(run);
    const restored = restoreRun(program, run.snapshot(), { context: CONTEXT, allow: { tasks: ['other'] } });
    expect(turnOf(restored, [{ kind: 'completed', id: 1 }])).toMatchObject({ status: 'failed', error: { name: 'TypeError' }, effects: [] });
  });

  it('cannot be widened by a snapshot: what a flow requests comes only from its program', () => {
    const program = compile(`await Task.run('mail'); return 1`);
    const run = startRun(program, { context: CONTEXT, allow: ALLOW });
    turnOf(run);
    const restored = restoreRun(program, run.snapshot().replace('"mail"', '"charge"'), { context: CONTEXT, allow: ALLOW });
    expect(turnOf(restored, [{ kind: 'completed', id: 1 }])).toMatchObject({ status: 'completed', effects: [] });
  });
});
