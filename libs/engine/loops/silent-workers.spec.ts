// When a worker declares another one dead: after silence that it was there to observe, not after a gap.

import { describe, expect, it } from '@jest/globals';
import { NO_HEARTBEAT } from '../../store/index.js';
import { SilentWorkers } from './silent-workers.js';

const OPTIONS = { heartbeatMs: 100, deadAfterMs: 900 };

describe('a silent worker', () => {
  const observer = () => {
    const workers = new SilentWorkers('me', OPTIONS);
    return (readAt: number, beats: number) =>
      workers.read(
        [
          { workerId: 'me', beats: 1 },
          { workerId: 'other', beats },
        ],
        readAt,
      );
  };
  const DEAD = [{ workerId: 'other', beats: 7 }];

  it('is dead after deadAfter without a heartbeat', () => {
    const read = observer();
    for (let at = 0; at < 900; at += 100) expect(read(at, 7)).toEqual([]);
    expect(read(900, 7)).toEqual(DEAD);
  });

  it('is not dead when a heartbeat came in between', () => {
    const read = observer();
    for (let at = 0; at <= 800; at += 100) read(at, 7);
    expect(read(900, 8)).toEqual([]);
    expect(read(1_700, 8)).toEqual([]);
  });

  it('is not dead because of one long gap between two readings: of that only a third of deadAfter counts', () => {
    const read = observer();
    read(0, 7);
    expect(read(60_000, 7)).toEqual([]);
    expect(read(120_000, 7)).toEqual([]);
    expect(read(180_000, 7)).toEqual(DEAD);
  });

  it('is still dead when it has claims and no heartbeat row any more', () => {
    const read = observer();
    read(0, 7);
    read(300, NO_HEARTBEAT);
    read(600, NO_HEARTBEAT);
    expect(read(900, NO_HEARTBEAT)).toEqual([{ workerId: 'other', beats: NO_HEARTBEAT }]);
  });
});
