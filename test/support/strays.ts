// Finds and ends the processes that a run of the specs started and did not end.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Every process that a spec starts carries the id of the run in its environment, which /proc shows even of a stopped one.
 * Where there is no /proc the lifeline of `spawnWorker` has to do.
 */
export function endStrays(runId: string): number {
  if (process.platform !== 'linux') return 0;
  const mark = `RHYTHM_TEST_CHILD=${runId}\0`;
  let ended = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) continue;
      process.kill(Number(pid), 'SIGKILL');
      ended += 1;
    } catch {
      // It ended by itself, or belongs to somebody else.
    }
  }
  return ended;
}
