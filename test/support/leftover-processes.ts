// Finds and kills the processes that a run of the specs started and did not end.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Every process that a spec starts has the id of the run in its environment, which /proc shows even for a stopped process.
 * Where there is no /proc, only exit-with-parent.mjs ends them.
 */
export function killLeftovers(runId: string): number {
  if (process.platform !== 'linux') return 0;
  const mark = `RHYTHM_TEST_CHILD=${runId}\0`;
  let killed = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) continue;
      process.kill(Number(pid), 'SIGKILL');
      killed += 1;
    } catch {
      // It has ended by itself, or belongs to another user.
    }
  }
  return killed;
}
