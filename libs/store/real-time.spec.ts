// SQL takes its time from `rhythm.clock()`: every other clock is listed here, with the reason why it stays on real time.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOMS = ['libs/store', 'migrations'];
const OTHER_CLOCK =
  /(?<![\w.])(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age)\(|\b(current_(timestamp|time|date)|localtime(stamp)?)\b|'(now|today|tomorrow|yesterday)'::/gi;

/** How often each file reads another clock. */
const ALLOWED: Record<string, number> = {
  // `CLOCK_NOW`: the clock of the schema plus the time since the statement began.
  'libs/store/clock.ts': 2,
  // Not a time: it keeps the planner from evaluating an expression.
  'libs/store/commit/fence-losers.ts': 1,
  // `doctor` compares the clocks of server and host, and looks for transactions that are open for too long.
  'libs/store/connect/probe-server.ts': 3,
  // Whether a worker is alive.
  'libs/store/entities/worker-heartbeat.ts': 2,
  'libs/store/read/read-status.ts': 3,
  // Which of the living workers wakes for the timers of all.
  'libs/store/run/move-due.ts': 1,
  // How long ago a table was vacuumed (1), and the clock of the process (3).
  'libs/store/manage/vacuum-queues.ts': 4,
  // `doctor` reads when the server last archived WAL, the age of transaction ids, and what `rhythm.clock()` says beyond real time.
  'libs/store/read/server-health.ts': 3,
  'libs/store/run/heartbeat.ts': 1,
  // The function `rhythm.clock()` itself, and the two defaults of heartbeats.
  'migrations/1763424000000-initial.ts': 3,
};

describe('time in SQL', () => {
  it('is that of rhythm.clock(), but for heartbeats and diagnosis', () => {
    const files = ROOMS.flatMap((room) => readdirSync(room, { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)));
    const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
    expect(sources.length).toBeGreaterThan(80);
    const found = sources.flatMap((file) => {
      const uses = code(readFileSync(file, 'utf8')).match(OTHER_CLOCK)?.length ?? 0;
      return uses > 0 ? [[file, uses] as const] : [];
    });
    expect(Object.fromEntries(found)).toEqual(ALLOWED);
  });

  it.each(['due_at <= now()', 'DEFAULT CURRENT_TIMESTAMP', 'x - clock_timestamp()', 'age(created_at)', `'now'::timestamptz`, 'LOCALTIME'])(
    'is recognized in "%s"',
    (sql) => expect(sql.match(OTHER_CLOCK)).toHaveLength(1),
  );

  it.each(['performance.now()', 'Date.now()', 'rhythm.clock()', `'now', extract(epoch FROM rhythm.clock())`, 'average(x)'])(
    'is not taken for another clock in "%s"',
    (text) => expect(text.match(OTHER_CLOCK)).toBeNull(),
  );
});

function code(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
