// The processes of isolated flows, for specs: those of a worker, and a program that misbehaves.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const register = new URL('../../scripts/register-typescript.mjs', import.meta.url).href;

/** The program of hostile-child.ts. */
export const HOSTILE = {
  file: fileURLToPath(new URL('./hostile-child.ts', import.meta.url)),
  execArgv: ['--import', register],
};

/** The ids of the processes of isolated flows that a process has started and that have not been reaped. */
export function isolatedChildrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && fieldsOf(pid)?.parent === parent && fieldsOf(pid)?.name === 'rhythm-isolated');
}

/** True while a process runs; one that has ended and is not reaped by a parent that is gone does not. */
export function isAlive(pid: number): boolean {
  return fieldsOf(pid) !== undefined && fieldsOf(pid)?.state !== 'Z';
}

/** True while there is such a process, even one that has ended and is not reaped. */
export function exists(pid: number): boolean {
  return fieldsOf(pid) !== undefined;
}

function fieldsOf(pid: number): { name: string; state: string; parent: number } | undefined {
  try {
    const [, name, state, parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) as unknown as string[];
    return { name, state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
