// Puts a turn into a frame.

import type { FlowEvent } from '../flow/index.js';
import type { Frame, FrameLimits } from './frames.js';
import type { IsolatedTurn } from './isolated-turn.js';
import type { EventHead, TurnRequest } from './messages.js';
import type { ProgramToSend } from './program-texts.js';

export function requestOf(turn: IsolatedTurn, program: ProgramToSend, reply: FrameLimits): Frame<TurnRequest> {
  const { context, limits, allow, numberAfter, now, snapshot, inputs, events } = turn;
  const texts: string[] = [];
  const apart = (text: string | undefined) => (text === undefined ? undefined : texts.push(text) - 1);
  const head: TurnRequest = {
    program: turn.program.key,
    programText: apart(program.text),
    forget: program.forget,
    context,
    limits,
    allow,
    numberAfter,
    now,
    snapshot: apart(snapshot),
    inputs: apart(inputs),
    events: events.map((event) => eventHead(event, apart)),
    reply,
  };
  return { head, texts };
}

function eventHead(event: FlowEvent, apart: <T extends string | undefined>(text: T) => number | undefined): EventHead {
  switch (event.kind) {
    case 'completed':
      return { kind: event.kind, id: event.id, value: apart(event.value) };
    case 'failed':
      return { kind: event.kind, id: event.id, error: apart(JSON.stringify(event.error)) as number };
    case 'signal':
      return { ...event, payload: apart(event.payload) };
    default:
      return event;
  }
}
