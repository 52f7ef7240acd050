// The descriptors that a new process would get from this one besides those it is meant to have.

import { readdirSync, readFileSync } from 'node:fs';

const STANDARD = 2;
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Node opens its own so that they are closed in new processes. What this process was itself started with (by a shell, or a service
 * manager) or what native code has opened may not be: the new process closes it. Empty where the system does not show descriptors.
 */
export function inheritedDescriptors(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > STANDARD && isInherited(fd));
}

function isInherited(fd: number): boolean {
  try {
    const [, flags] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one that the folder was read with.
    return false;
  }
}
