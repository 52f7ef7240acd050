// What a worker and a process that runs isolated flows tell each other. A number in place of a text is its index in the frame.

import type { FlowAllowList, FlowContext, FlowEvent, FlowLimits, WaitingPlace } from '../flow/index.js';
import type { FrameLimits } from './frames.js';

/** The argument that the process is started with, as JSON. */
export interface ChildOrder {
  /** The process that started it: it ends when that one does. */
  parent: number;
  /** Resident memory at which it ends itself. */
  memoryBytes: number;
  /** Descriptors that it has by accident. */
  close: readonly number[];
}

/** An event with its texts outside. */
export type EventHead =
  | { kind: 'completed'; id: number; value?: number }
  | { kind: 'failed'; id: number; error: number }
  | Extract<FlowEvent, { kind: 'timer' | 'timeout' | 'cancel' }>
  | { kind: 'signal'; key: string; name: string; payload?: number };

/** One turn to be run. */
export interface TurnRequest {
  /** Which program, by the hash of its text; the text comes along when the process does not have it. */
  program: string;
  programText?: number;
  /** Programs that are not needed any more. */
  forget: readonly string[];
  context: FlowContext;
  limits: FlowLimits;
  allow: FlowAllowList;
  numberAfter: number;
  /** The time of the turn's beginning, in milliseconds. */
  now: number;
  /** Without a snapshot the run is started. */
  snapshot?: number;
  inputs?: number;
  events: readonly EventHead[];
  /** What the reply may take. */
  reply: FrameLimits;
}

/** The first message of the process. */
export interface ReadyMessage {
  ready: true;
}

/** Its state or its program cannot be used: what a FlowSnapshotError says. */
export interface Refusal {
  refused: { code: string; message: string };
}

/** Of what a run waits for, the reply has this many places: as many as are stored. */
export const MOST_PLACES = 8;

/** A turn that was run: a `TurnResult` with texts outside, and the state after it. */
export interface TurnReply {
  status: string;
  effects: unknown[];
  output?: number;
  error?: number;
  snapshot?: number;
  /** What the run waits for, after `suspended`. */
  places?: readonly WaitingPlace[];
  /** Resident memory after the turn. */
  resident: number;
}

// A turn of 20,000 tasks with short names and options takes half of such a head.
const HEAD_BYTES = 4 * 1024 * 1024;
const MOST_TEXTS = 131_072;
const TEXT_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHARACTER = 3;

/** What the reply to a turn may take: its state may be as large as that of any other flow. */
export function replyLimits({ snapshotBytes }: Pick<FlowLimits, 'snapshotBytes'>): FrameLimits {
  return { headBytes: HEAD_BYTES, texts: MOST_TEXTS, bytes: HEAD_BYTES + TEXT_BYTES + BYTES_PER_CHARACTER * snapshotBytes };
}

/** What a request may take: everything that a turn may be given was stored before, within the limits of that. */
export const REQUEST_LIMITS: FrameLimits = { headBytes: 2 ** 30, texts: 2 ** 24, bytes: 2 ** 32 - 1 };
