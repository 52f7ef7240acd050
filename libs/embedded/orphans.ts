// Ends what a keeper that was killed left behind: its PostgreSQL, and its folder if that was a throwaway.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Ends a PostgreSQL that runs on this data folder without a keeper, and clears the pid file that is left. */
export async function endOrphan(data: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (pid > 0 && hasWorkingDirectory(pid, data)) {
    process.kill(pid, 'SIGINT');
    for (let waited = 0; hasWorkingDirectory(pid, data); waited += 20) {
      if (waited === 10_000) process.kill(pid, 'SIGQUIT');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  // PostgreSQL would refuse to start if another process of its user has got that id meanwhile.
  rmSync(pidFile, { force: true });
}

/** The name of a throwaway folder contains the process id of its keeper. Servers and folders of dead keepers are removed. */
export async function sweepThrowaways(base: string): Promise<void> {
  for (const name of readdirSync(base)) {
    const keeper = /^rhythm-pg-(\d+)-/.exec(name)?.[1];
    const folder = join(base, name);
    if (!keeper || isRunning(Number(keeper))) continue;
    if (statSync(folder, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    try {
      await endOrphan(join(folder, 'data'));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    } catch (error) {
      // Another process removes the same folder at the same time.
      if (!['ENOENT', 'ENOTEMPTY', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/** Whether this process runs. A zombie, which has ended but whose parent has not read its exit code, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** PostgreSQL's working directory is its data folder, which distinguishes it from another process with the same id. */
function hasWorkingDirectory(pid: number, data: string): boolean {
  if (!isRunning(pid)) return false;
  if (process.platform === 'linux') {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === data;
    } catch {
      return false;
    }
  }
  return (
    spawnSync('ps', ['-p', String(pid), '-o', 'command='])
      .stdout?.toString()
      .includes(data) ?? false
  );
}
