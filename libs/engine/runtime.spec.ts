// The engine takes its clock, timers, ids and randomness from `Runtime`, so that a simulation can choose them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Wakeup } from './loops/wakeup.js';
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

describe('the wakeup of a loop', () => {
  it('ends a wait after its time, when it is triggered, or at the time it was set to, whichever comes first', async () => {
    const runtime = new ManualRuntime();
    const wakeup = new Wakeup(runtime as unknown as Runtime);
    const ended: string[] = [];
    const wait = async (name: string) => {
      await wakeup.wait(1_000);
      ended.push(name);
    };
    void wait('time');
    await runtime.advance(999);
    expect(ended).toEqual([]);
    await runtime.advance(1);
    await Promise.resolve();
    expect(ended).toEqual(['time']);
    wakeup.triggerWithin(500);
    wakeup.triggerWithin(800);
    void wait('set time');
    await runtime.advance(500);
    await Promise.resolve();
    expect(ended).toEqual(['time', 'set time']);
    wakeup.trigger();
    await wait('triggered before the wait');
    expect(ended).toHaveLength(3);
    wakeup.clear();
    expect(runtime.pending).toBe(0);
  });
});

describe('slots', () => {
  it('wake the claim loop only while it waits for room', () => {
    let triggers = 0;
    const slots = new Slots(2, { trigger: () => triggers++ } as unknown as Wakeup);
    slots.acquire('task', 2);
    expect(slots.free()).toBe(0);
    slots.release('task');
    expect(triggers).toBe(0);
    slots.waitForRoom();
    slots.release('task');
    expect(triggers).toBe(1);
    slots.stopWaiting();
    slots.roomFreed();
    expect(triggers).toBe(1);
  });

  it('keep tasks out for what a claim has asked for, and turns out only for turns', () => {
    const slots = new Slots(10, { trigger: () => undefined } as unknown as Wakeup);
    slots.acquire('claiming', 3);
    slots.acquire('reserved', 2);
    slots.acquire('turn', 8);
    expect(slots.freeForTasks()).toBe(5);
    expect(slots.free()).toBe(2);
  });
});
