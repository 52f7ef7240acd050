// The resident memory of another process.

import { readFileSync } from 'node:fs';

/** In bytes; undefined where the system does not show it (then the process watches itself) or the process has ended. */
export function residentMemory(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
  } catch {
    return undefined;
  }
}
