// The stream of events: who is called, and what becomes of a listener that fails.

import { describe, expect, it } from '@jest/globals';
import { type EngineEvent, EngineEvents } from './engine-events.js';

const CLAIMED: EngineEvent = { type: 'claimed', workerId: 'w', count: 1 };

describe('the events of an engine', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('metrics down');
      },
    ],
    [
      'returns a promise that is rejected',
      async () => {
        throw new Error('metrics down');
      },
    ],
  ])('report a listener that %s as a problem, and call the others', async (_, broken) => {
    const events = new EngineEvents();
    const seen: EngineEvent[] = [];
    events.subscribe(['claimed'], broken);
    events.subscribe((event) => seen.push(event));
    events.emit(CLAIMED);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toContainEqual(CLAIMED);
    expect(seen).toContainEqual({
      type: 'problem',
      where: expect.any(String),
      error: expect.objectContaining({ message: 'metrics down' }),
    });
  });

  it('refuse a subscription that would never be called', () => {
    const events = new EngineEvents();
    expect(() => events.subscribe(['finishd' as 'finished'], () => {})).toThrow(
      /subscribe\(\): types has "finishd", which is no event\. Events: .*finished/,
    );
    expect(() => events.subscribe('finished' as never, () => {})).toThrow(/types is not an array of event types/);
    expect(() => events.subscribe(['finished'], undefined as never)).toThrow(/listener is not a function/);
  });

  it('end in a listener of problems that fails itself', async () => {
    const events = new EngineEvents();
    let calls = 0;
    events.subscribe(['problem'], async () => {
      calls++;
      throw new Error('log down');
    });
    events.emit({ type: 'problem', where: 'here', error: new Error('first') });
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toBe(1);
  });
});
