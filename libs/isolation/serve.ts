// Runs the turns that come in as frames, one at a time, and writes their outcomes. Runs in the process of isolated flows.

import {
  type FlowEvent,
  type FlowHost,
  type FlowRun,
  FlowSnapshotError,
  loadProgram,
  restoreRun,
  startRun,
  type TurnResult,
  type WaitingPlace,
} from '../flow/runtime.js';
import { type Frame, FrameError, FrameReader, writeFrame } from './frames.js';
import { type EventHead, MOST_PLACES, REQUEST_LIMITS, type Refusal, type TurnReply, type TurnRequest } from './messages.js';

type Program = ReturnType<typeof loadProgram>;
type Finished = Exclude<TurnResult, { status: 'yielded' }>;

/** How the turns are run; replaced by specs that need a process that misbehaves. */
export type RunTurn = (frame: Frame<TurnRequest>, programs: Map<string, Program>) => Frame<TurnReply | Refusal>;

/** Serves requests until the input ends; `write` must not return before the bytes are out of this process. */
export function serve(input: NodeJS.ReadableStream, write: (bytes: Buffer) => void, runTurn: RunTurn = turnOf): void {
  const programs = new Map<string, Program>();
  const reader = new FrameReader(REQUEST_LIMITS);
  input.on('data', (bytes: Buffer) => {
    for (const frame of reader.read(bytes) as Frame<TurnRequest>[]) {
      const { reply } = frame.head;
      const outcome = runTurn(frame, programs);
      write(encoded(outcome, reply));
    }
  });
}

function encoded(outcome: Frame<TurnReply | Refusal>, limits: TurnRequest['reply']): Buffer {
  try {
    return writeFrame(outcome, limits);
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    const message = `The turn asks for more than an isolated flow may ask for in one turn: ${error.message}, and ${limits.bytes} bytes, ${limits.headBytes} in the head and ${limits.texts} texts are allowed. Await something in between.`;
    return writeFrame(failed({ name: 'LimitError', code: 'RHYTHM_ISOLATED_SIZE', message }), limits);
  }
}

function failed(error: { name: string; code: string; message: string }): Frame<TurnReply> {
  const nothing = { effects: [], consumedSignals: [], fired: [], muted: [], cancelled: false };
  return { head: { status: 'failed', ...nothing, error: 0, resident: process.memoryUsage.rss() }, texts: [JSON.stringify(error)] };
}

/** Runs one turn from its beginning to its end. */
export function turnOf(frame: Frame<TurnRequest>, programs: Map<string, Program>): Frame<TurnReply | Refusal> {
  const { head, texts } = frame;
  for (const program of head.forget) programs.delete(program);
  let run: FlowRun;
  try {
    if (head.programText !== undefined) programs.set(head.program, loadProgram(texts[head.programText]));
    run = runOf(programs.get(head.program) as Program, frame);
  } catch (error) {
    if (!(error instanceof FlowSnapshotError)) throw error;
    return { head: { refused: { code: error.code, message: error.message } }, texts: [] };
  }
  const host = hostAt(head.now);
  // No slices: nothing else is waiting for this thread.
  let result = run.turn(eventsOf(head.events, texts), host);
  while (result.status === 'yielded') result = run.turn([], host);
  return replyOf(result, result.status === 'suspended' ? { snapshot: run.snapshot(), places: run.waitingPlaces(MOST_PLACES) } : undefined);
}

function runOf(program: Program, { head, texts }: Frame<TurnRequest>): FlowRun {
  const { context, limits, allow, numberAfter, snapshot, inputs } = head;
  const options = { context, limits, allow, numberAfter };
  if (snapshot !== undefined) return restoreRun(program, texts[snapshot], options);
  return startRun(program, { ...options, inputs: inputs === undefined ? undefined : texts[inputs] });
}

function eventsOf(heads: readonly EventHead[], texts: readonly string[]): FlowEvent[] {
  return heads.map((event): FlowEvent => {
    switch (event.kind) {
      case 'completed':
        return event.value === undefined ? { kind: 'completed', id: event.id } : { ...event, value: texts[event.value] };
      case 'failed':
        return { ...event, error: JSON.parse(texts[event.error]) };
      case 'signal': {
        const { payload, ...signal } = event;
        return payload === undefined ? signal : { ...signal, payload: texts[payload] };
      }
      default:
        return event;
    }
  });
}

function hostAt(now: number): FlowHost {
  const began = performance.now();
  return {
    now: () => Math.floor(now + performance.now() - began),
    random: Math.random,
    uuid: () => crypto.randomUUID(),
  };
}

function replyOf(result: Finished, state: { snapshot: string; places: WaitingPlace[] } | undefined): Frame<TurnReply> {
  const texts: string[] = [];
  const apart = (text: string) => texts.push(text) - 1;
  const effects = result.effects.map((effect) =>
    'input' in effect && effect.input !== undefined ? { ...effect, input: apart(effect.input) } : effect,
  );
  const head: TurnReply = { ...result, effects, output: undefined, error: undefined, resident: process.memoryUsage.rss() };
  if (result.status === 'completed' && result.output !== undefined) head.output = apart(result.output);
  if (result.status === 'failed') head.error = apart(JSON.stringify(result.error));
  if (state) {
    head.snapshot = apart(state.snapshot);
    head.places = state.places;
  }
  return { head, texts };
}
