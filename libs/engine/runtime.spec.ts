// The engine takes its clock, timers, ids and randomness from `Runtime`, so that a simulation can choose them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Doorbell } from './loops/doorbell.js';
import type { Runtime } from './runtime.js';
import { Slots } from './work/slots.js';

const ROOM = 'libs/engine';
const DIRECT =
  /\b(Date\.now|new Date\(\)|performance\.now|process\.hrtime|set(Timeout|Interval|Immediate)|Math\.random|randomUUID|randomBytes|randomInt|uuidv7|new(Id|Fence|Secret)\()/;

/** A runtime whose clock moves by hand. */
class ManualRuntime implements Pick<Runtime, 'monotonicNow' | 'setTimer'> {
  private now = 0;
  private timers: { at: number; callback: () => void }[] = [];

  monotonicNow(): number {
    return this.now;
  }

  setTimer(ms: number, callback: () => void) {
    const timer = { at: this.now + ms, callback };
    this.timers.push(timer);
    return {
      cancel: () => {
        this.timers = this.timers.filter((each) => each !== timer);
      },
    };
  }

  async advance(ms: number): Promise<void> {
    this.now += ms;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { callback } of due) callback();
    await Promise.resolve();
  }

  get pending(): number {
    return this.timers.length;
  }
}

describe('the seams of the engine', () => {
  it('are used everywhere: no file but runtime.ts asks the process for time, timers, ids or randomness', () => {
    const files = readdirSync(ROOM, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && file !== 'runtime.ts',
    );
    expect(files.length).toBeGreaterThan(30);
    const direct = files.flatMap((file) =>
      readFileSync(join(ROOM, file), 'utf8')
        .split('\n')
        .filter((line) => DIRECT.test(line.replace(/runtime\.\w+/g, '')))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(direct).toEqual([]);
  });
});

describe('a doorbell', () => {
  it('ends a wait after its time, at a ring, or at the time it was set to, whichever comes first', async () => {
    const runtime = new ManualRuntime();
    const bell = new Doorbell(runtime as unknown as Runtime);
    const ended: string[] = [];
    const wait = async (name: string) => {
      await bell.wait(1_000);
      ended.push(name);
    };
    void wait('time');
    await runtime.advance(999);
    expect(ended).toEqual([]);
    await runtime.advance(1);
    await Promise.resolve();
    expect(ended).toEqual(['time']);
    bell.ringWithin(500);
    bell.ringWithin(800);
    void wait('alarm');
    await runtime.advance(500);
    await Promise.resolve();
    expect(ended).toEqual(['time', 'alarm']);
    bell.ring();
    await wait('ring before the wait');
    expect(ended).toHaveLength(3);
    bell.clear();
    expect(runtime.pending).toBe(0);
  });
});

describe('slots', () => {
  it('ring the claim loop only while it waits for room', () => {
    let rings = 0;
    const slots = new Slots(2, { ring: () => rings++ } as unknown as Doorbell);
    slots.acquire('task', 2);
    expect(slots.free()).toBe(0);
    slots.release('task');
    expect(rings).toBe(0);
    slots.waitForRoom();
    slots.release('task');
    expect(rings).toBe(1);
    slots.stopWaiting();
    slots.roomFreed();
    expect(rings).toBe(1);
  });

  it('keep tasks out for what a claim has asked for, and turns out only for turns', () => {
    const slots = new Slots(10, { ring: () => undefined } as unknown as Doorbell);
    slots.acquire('claiming', 3);
    slots.acquire('reserved', 2);
    slots.acquire('turn', 8);
    expect(slots.freeForTasks()).toBe(5);
    expect(slots.free()).toBe(2);
  });
});
