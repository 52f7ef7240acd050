// What a process of isolated flows says about a turn is checked before anything of it is written.

import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../libs/flow/index.js';
import { type AskedTurn, checkReply } from '../../libs/isolation/check-reply.js';

const ASKED: AskedTurn = {
  limits: { ...DEFAULT_LIMITS, payloadBytes: 20, snapshotBytes: 100 },
  allow: { tasks: ['mail'], workflows: [], queues: ['slow'] },
  numberAfter: 5,
  signals: new Set(['7', '8']),
  cancels: false,
  fingerprint: 'abc',
};
const NOTHING = { effects: [], consumedSignals: [], fired: [], muted: [], cancelled: false, resident: 1 };
const PLACE = { kind: 'task', name: 'mail', line: 3, function: 'send', calls: 2 };
const TIMER = { kind: 'timer', name: 'any', line: null, function: null, calls: 1 };
const SNAPSHOT = '[2,"abc",9,[],[]]';
const check = (head: object, texts: string[] = [], asked = ASKED) => checkReply({ head: { ...NOTHING, ...head }, texts }, asked);
const effects = (...given: unknown[]) => check({ status: 'completed', effects: given }, ['1', '"two"', 'no json', `"${'x'.repeat(30)}"`]);

describe('a reply', () => {
  it('is returned with what belongs to it and nothing else', async () => {
    const task = { kind: 'task', id: 6, name: 'mail', input: 0, options: { queue: 'slow', retry: { maxAttempts: 2 } } };
    const checked = await check(
      {
        status: 'suspended',
        extra: 1,
        effects: [
          { ...task, extra: 1 },
          { kind: 'timer', id: 7, delayMs: 1 },
          { kind: 'withdraw', id: 3, reason: 'lost' },
        ],
        snapshot: 1,
        groups: [{ members: [6, 7], until: 'all' }],
        consumedSignals: [{ key: '8', wait: 2 }],
        fired: [1],
        muted: [2],
        places: [{ ...PLACE, extra: 1 }, TIMER],
      },
      ['{"a":1}', SNAPSHOT],
    );
    expect(checked).toEqual({
      result: {
        status: 'suspended',
        effects: [
          { ...task, input: '{"a":1}' },
          { kind: 'timer', id: 7, delayMs: 1 },
          { kind: 'withdraw', id: 3, reason: 'lost' },
        ],
        groups: [{ members: [6, 7], until: 'all' }],
        consumedSignals: [{ key: '8', wait: 2 }],
        fired: [1],
        muted: [2],
        cancelled: false,
      },
      snapshot: SNAPSHOT,
      places: [PLACE, { ...TIMER, name: '' }],
      resident: 1,
    });
    const error = { name: 'A', message: 'b', code: 'c', data: { d: 1 }, stack: 'e', cause: { name: 'F', message: 'g' } };
    expect(await check({ status: 'failed', error: 0 }, [JSON.stringify({ ...error, extra: 1 })])).toMatchObject({ result: { error } });
  });

  const call = (more: object) => ({ kind: 'task', id: 6, name: 'mail', options: {}, ...more });
  it.each<[string, unknown]>([
    ['a number that was given before', call({ id: 5 })],
    ['a number that is none', call({ id: 6.5 })],
    ['a number that cannot be stored', call({ id: 2 ** 31 })],
    ['a task that is not allowed', call({ name: 'charge' })],
    ['a name with NUL', call({ name: 'mail\0' })],
    ['a name that is none', call({ name: ['mail'] })],
    ['a queue that is not allowed', call({ options: { queue: 'fast' } })],
    ['a queue of the prototype', call({ options: { queue: 'constructor' } })],
    ['a priority out of range', call({ options: { priority: 40_000 } })],
    ['a delay that is none', call({ options: { delayMs: '1; drop table' } })],
    ['a retry without end', call({ options: { retry: { maxAttempts: 1e9 } } })],
    ['no options', call({ options: null })],
    ['an input that is not JSON', call({ input: 2 })],
    ['an input that is too large', call({ input: 3 })],
    ['an input that is not there', call({ input: 4 })],
    ['an input in place', call({ input: '"text"' })],
    ['a workflow that is not allowed', { kind: 'workflow', id: 6, name: 'mail', options: {} }],
    ['a timer without end', { kind: 'timer', id: 6, delayMs: Number.MAX_VALUE }],
    ['a timer without time', { kind: 'timer', id: 6 }],
    ['a withdrawal of a call to come', { kind: 'withdraw', id: 6, reason: 'lost' }],
    ['a cancel of a call to come', { kind: 'cancel', id: 6 }],
    ['a level of its own', { kind: 'log', level: 'fatal', message: '', at: 0 }],
    ['a log line that is none', { kind: 'log', level: 'log', message: {}, at: 0 }],
    ['a kind of its own', { kind: 'sql', id: 6 }],
    ['an effect that is none', null],
  ])('with %s is refused', async (_, effect) => {
    await expect(effects(effect)).rejects.toThrow(/^\S/);
    await expect(effects(call({}))).resolves.toBeDefined();
  });

  it('may not give a child the id of another run’s child', async () => {
    const asked = { ...ASKED, allow: {} };
    const child = (id: string) =>
      check({ status: 'completed', effects: [{ kind: 'workflow', id: 6, name: 'w', options: { id } }] }, [], asked);
    await expect(child('own')).resolves.toBeDefined();
    for (const id of ['other:1', 'key', 'cron', ' ', 'x'.repeat(201)]) await expect(child(id)).rejects.toThrow();
  });

  it.each<[string, object, string[]]>([
    ['an unknown status', { status: 'yielded' }, []],
    ['no effects', { status: 'completed', effects: {} }, []],
    ['one number twice', { status: 'completed', effects: [call({}), call({})] }, []],
    ['one text twice', { status: 'completed', effects: [call({ input: 0 }), call({ id: 7, input: 0 })] }, ['1']],
    ['an output that is not JSON', { status: 'completed', output: 0 }, ['{']],
    ['no error', { status: 'failed' }, []],
    ['an error without a message', { status: 'failed', error: 0 }, ['{"name":"A"}']],
    ['a cancel that there was not', { status: 'completed', cancelled: true }, []],
    ['a signal that it was not given', { status: 'completed', consumedSignals: [{ key: '9', wait: 1 }] }, []],
    ['a signal twice', { status: 'completed', consumedSignals: [1, 2].map((wait) => ({ key: '7', wait })) }, []],
    ['no snapshot', { status: 'suspended', groups: [] }, []],
    ['the snapshot of another program', { status: 'suspended', groups: [], places: [], snapshot: 0 }, ['[2,"other",9,[],[]]']],
    ['a snapshot that is none', { status: 'suspended', groups: [], places: [], snapshot: 0 }, ['"abc"']],
    ['a snapshot that is too large', { status: 'suspended', groups: [], places: [], snapshot: 0 }, [SNAPSHOT + ' '.repeat(100)]],
    [
      'a group of calls that there are not',
      { status: 'suspended', groups: [{ members: [6], until: 'all' }], places: [], snapshot: 0 },
      [SNAPSHOT],
    ],
    ['a group that never ends', { status: 'suspended', groups: [{ members: [1], until: 'never' }], places: [], snapshot: 0 }, [SNAPSHOT]],
    ['no places', { status: 'suspended', groups: [], snapshot: 0 }, [SNAPSHOT]],
    ['too many places', { status: 'suspended', groups: [], snapshot: 0, places: Array(9).fill(PLACE) }, [SNAPSHOT]],
    ['a place of a kind of its own', { status: 'suspended', groups: [], snapshot: 0, places: [{ ...PLACE, kind: 'sql' }] }, [SNAPSHOT]],
    [
      'a place with a long name',
      { status: 'suspended', groups: [], snapshot: 0, places: [{ ...PLACE, name: 'x'.repeat(600) }] },
      [SNAPSHOT],
    ],
    ['a place without a line', { status: 'suspended', groups: [], snapshot: 0, places: [{ ...PLACE, line: 'x' }] }, [SNAPSHOT]],
    ['a timer that fired and has no number', { status: 'completed', fired: ['6'] }, []],
    ['no memory', { status: 'completed', resident: null }, []],
  ])('with %s is refused', async (_, head, texts) => {
    await expect(check(head, texts)).rejects.toThrow(/^\S/);
  });

  it('with a payload that is nested too deeply is refused', async () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}"[{\\"["${'}]'.repeat(depth / 2)}`;
    const output = (depth: number) =>
      check({ status: 'completed', output: 0 }, [nested(depth)], { ...ASKED, limits: { ...ASKED.limits, payloadBytes: 10_000 } });
    await expect(output(1_000)).resolves.toBeDefined();
    await expect(output(1_002)).rejects.toThrow('nested too deeply');
  });

  it('that is no object is refused', async () => {
    for (const head of [null, 1, 'text', []])
      await expect(checkReply({ head, texts: [] }, ASKED)).rejects.toThrow('the reply is not an object');
  });
});
