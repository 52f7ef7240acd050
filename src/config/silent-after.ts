// When a worker counts as silent for people, which is earlier than when its work is taken from it.

import type { RhythmSettings } from './schema.js';

// A heartbeat may be late: by a slow commit, a pause of the process, the time it takes to start.
const MISSED = 3;

/** Milliseconds without a heartbeat after which a worker is not counted as serving its queues. */
export function silentAfter({ heartbeatInterval, deadAfter }: RhythmSettings['worker']): number {
  return Math.min(MISSED * heartbeatInterval, deadAfter);
}
