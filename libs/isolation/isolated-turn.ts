// A turn of an isolated flow, with all that a process needs to run it.

import { createHash } from 'node:crypto';
import type { FlowAllowList, FlowContext, FlowEvent, FlowLimits } from '../flow/index.js';

/** A program as a process gets it. */
export interface IsolatedProgram {
  /** What `saveProgram` wrote. */
  text: string;
  /** SHA-256 of the text: the fingerprint of a program is not made to withstand someone who wants two of the same. */
  key: string;
  fingerprint: string;
}

/** A turn to be run in a process. */
export interface IsolatedTurn {
  program: IsolatedProgram;
  context: FlowContext;
  limits: FlowLimits;
  allow: FlowAllowList;
  numberAfter: number;
  now: number;
  snapshot: string | undefined;
  inputs: string | undefined;
  events: readonly FlowEvent[];
  /** How often in a row the run crashed whatever ran it. */
  crashes: number;
}

/** About how many characters a turn keeps in memory while it waits. */
export function sizeOf({ snapshot, inputs, events }: IsolatedTurn): number {
  let size = (snapshot?.length ?? 0) + (inputs?.length ?? 0);
  for (const event of events) {
    if (event.kind === 'completed') size += event.value?.length ?? 0;
    if (event.kind === 'signal') size += event.payload?.length ?? 0;
  }
  return size;
}

/** A program in the form in which processes get it. */
export function isolatedProgram(text: string, fingerprint: string): IsolatedProgram {
  return { text, fingerprint, key: createHash('sha256').update(text).digest('hex') };
}
