// The fingerprint of a program: distinguishes the programs that different compilers make of one source.

import type { Program } from './program.js';

/**
 * 12 hexadecimal digits. The name of the file is left out: it says where a process found the source, not what the program does.
 * A hash without secrets is enough, because it is only compared among the few programs of one source, all made by this package.
 */
export function fingerprintOf({ version, constants, functions }: Omit<Program, 'fingerprint'>): string {
  const text = JSON.stringify([version, constants, functions]);
  // Two lanes of 32 bits, multiplied by odd numbers and mixed at the end.
  let first = 0xdeadbeef;
  let second = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x9e3779b1);
    second = Math.imul(second ^ unit, 0x5f356495);
  }
  first = mix(first, second);
  second = mix(second, first);
  return (hex(first) + hex(second)).slice(0, 12);
}

function mix(lane: number, other: number): number {
  return Math.imul(lane ^ (lane >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, '0');
}
