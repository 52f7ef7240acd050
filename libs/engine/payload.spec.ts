// Payloads: written as JSON.stringify writes them, and refused with a path where JSON would lose something.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toJsonText } from './payload.js';

const LIMITS = { payloadBytes: 1_000, payloadDepth: 20 };
const text = (value: unknown) => toJsonText(value, 'input', LIMITS);

describe('a payload', () => {
  it('is written exactly as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        (value) => toJsonText(value, 'input', { payloadBytes: 1e6, payloadDepth: 50 }) === JSON.stringify(value),
      ),
    );
    const mixed = { at: new Date(0), gone: undefined, list: [undefined, 1], nested: { toJSON: () => 'self' }, '\u0000': '\ud800' };
    expect(text(mixed)).toBe(JSON.stringify(mixed));
    expect(text(undefined)).toBeUndefined();
  });

  it.each([
    [{ a: [1, Number.NaN] }, 'input.a[1] is NaN, which JSON cannot hold.'],
    [{ a: new Map() }, 'input.a is a Map, whose content JSON would lose.'],
    [{ a: 1n }, 'input.a is a BigInt, which JSON cannot hold; pass it as a string.'],
    [{ a: () => 1 }, 'input.a is a function, which JSON cannot hold.'],
    [{ a: Promise.resolve() }, 'input.a is a Promise (is an await missing?), whose content JSON would lose.'],
    [{ a: Buffer.from('x').subarray(0, 0).buffer }, 'input.a is a ArrayBuffer (encode it, e.g. as base64), whose content JSON would lose.'],
  ])('refuses %p', (value, message) => {
    expect(() => text(value)).toThrow(expect.objectContaining({ code: 'RHYTHM_PAYLOAD_INVALID', message }));
  });

  it('refuses a cycle, but not the same object twice', () => {
    const shared = { x: 1 };
    expect(text([shared, shared])).toBe('[{"x":1},{"x":1}]');
    const loop: Record<string, unknown> = {};
    loop.self = { loop };
    expect(() => text(loop)).toThrow('input.self.loop refers back to an object that contains it (a cycle).');
  });

  it('refuses what is too large or too deep, with the limit', () => {
    expect(() => text('x'.repeat(2_000))).toThrow(/input is 2002 bytes as JSON; the limit is 1000/);
    let deep: unknown = 1;
    for (let i = 0; i < 50; i++) deep = [deep];
    expect(() => text(deep)).toThrow(/nested deeper than 20 levels/);
  });

  it('refuses at once what is small in memory and endless as text, because its parts are shared', () => {
    let shared: unknown = 1;
    for (let i = 0; i < 19; i++) shared = [shared, shared];
    expect(() => text(shared)).toThrow(/^input is more than 8000 bytes as JSON; the limit is 1000/);
    expect(() => text(new Array(1_000_000_000))).toThrow(/more than 8000 bytes/);
    expect(() => text(new Array(2_000).fill('x'.repeat(1_000_000)))).toThrow(/more than 8000 bytes/);
    class Money {}
    let written: unknown = new Money();
    for (let i = 0; i < 19; i++) written = [written, written];
    expect(() => text(written)).toThrow(/more than 8000 bytes/);
  });

  it('is written as its own toJSON says, and checked as that', () => {
    const odd = Object.assign(new Date(0), { toJSON: () => ({ at: Number.NaN }) });
    expect(() => text({ odd })).toThrow('input.odd.at is NaN, which JSON cannot hold.');
    const list = Object.assign([1], { toJSON: () => 'list' });
    expect(text([list, new Date(Number.NaN), Object.create(null)])).toBe('["list",null,{}]');
  });

  it('survives a value of any depth without running out of stack', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    expect(() => text(deep)).toThrow(/nested deeper/);
  });
});
