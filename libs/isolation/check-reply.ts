// Checks what a process of isolated flows says about a turn, as a stored snapshot is checked: whoever wrote it may be anyone.

import type { ConsumedSignal, Effect, ErrorData, FlowAllowList, FlowLimits, ResumeGroup, TurnResult, WaitingPlace } from '../flow/index.js';
import { snapshotHeader } from '../flow/index.js';
import { checkEffect, LARGEST_CALL, LONGEST_NAME } from './check-effect.js';
import { Checked, InvalidReply } from './checked.js';
import type { Frame } from './frames.js';
import { MOST_PLACES, type TurnReply } from './messages.js';

/** What the worker knows of the turn that it asked for. */
export interface AskedTurn {
  limits: FlowLimits;
  allow: FlowAllowList;
  /** Durable calls of the turn have higher numbers. */
  numberAfter: number;
  /** The keys of the signals that it was given. */
  signals: ReadonlySet<string>;
  /** It was given a cancel. */
  cancels: boolean;
  /** Of its program. */
  fingerprint: string;
}

/** A turn whose outcome can be written. */
export interface CheckedTurn {
  result: Exclude<TurnResult, { status: 'yielded' }>;
  /** The state after `suspended`, and what the run waits for. */
  snapshot: string | undefined;
  places: WaitingPlace[];
  resident: number;
}

const STATUSES = ['completed', 'failed', 'suspended'] as const;
const DEEPEST_CAUSE = 20;
// That of the VM (libs/flow/vm/payload.ts), which does not count the values in it.
const DEEPEST_PAYLOAD = 1_001;

/** Returns the outcome with what belongs to it and nothing else. Rejects with InvalidReply. */
export async function checkReply({ head, texts }: Frame, asked: AskedTurn): Promise<CheckedTurn> {
  const reply = new Checked(head, 'the reply').object() as Partial<Record<keyof TurnReply | string, unknown>>;
  const field = (name: string) => new Checked(reply[name], name);
  const json = new JsonTexts(texts, asked.limits.payloadBytes);
  const effects: Effect[] = [];
  let last = asked.numberAfter;
  for (const each of field('effects').list()) {
    const effect = checkEffect(each, { ...asked, last }, (index, what) => json.take(index, what));
    if ('id' in effect && effect.kind !== 'withdraw' && effect.kind !== 'cancel') last = effect.id;
    effects.push(effect);
  }
  // A call that was made in this turn before its cancel is not among the effects, but it may have taken a signal.
  const calls = (name: string) =>
    field(name)
      .list()
      .map((each) => new Checked(each, name).integer(1, LARGEST_CALL));
  const cancelled = field('cancelled').boolean();
  if (cancelled && !asked.cancels) throw new InvalidReply('it applied a cancel that there was not');
  const consumedSignals = consumed(field('consumedSignals').list(), asked.signals);
  const base = { effects, consumedSignals, fired: calls('fired'), muted: calls('muted'), cancelled };
  const resident = field('resident').number(0, Number.MAX_SAFE_INTEGER);
  const status = field('status').oneOf(STATUSES);
  if (status === 'completed') {
    const output = reply.output === undefined ? undefined : json.take(reply.output, 'output');
    await json.check();
    return { result: { status, ...(output === undefined ? {} : { output }), ...base }, snapshot: undefined, places: [], resident };
  }
  if (status === 'failed') {
    const error = errorData(json.parse(reply.error, 'error'), 0);
    await json.check();
    return { result: { status, error, ...base }, snapshot: undefined, places: [], resident };
  }
  const snapshot = checkSnapshot(json.text(reply.snapshot, 'snapshot'), asked);
  const groups = groupsOf(field('groups').list(), last);
  await json.check();
  return { result: { status, groups, ...base }, snapshot, places: placesOf(field('places').list()), resident };
}

// Its content is checked by whoever loads it next, as that of every stored state.
function checkSnapshot(text: string, { limits, fingerprint }: AskedTurn): string {
  if (text.length > limits.snapshotBytes) throw new InvalidReply(`its snapshot has ${text.length} characters`);
  const header = snapshotHeader(text);
  if (Number.isNaN(header.format) || header.fingerprint !== fingerprint) throw new InvalidReply('its snapshot belongs to another program');
  return text;
}

function placesOf(list: readonly unknown[]): WaitingPlace[] {
  if (list.length > MOST_PLACES) throw new InvalidReply(`it waits at ${list.length} places`);
  return list.map((each) => {
    const place = new Checked(each, 'a place').object();
    const part = (name: string) => new Checked(place[name], `the ${name} of a place`);
    const kind = part('kind').oneOf(['signal', 'timer', 'task', 'child'] as const);
    return {
      kind,
      name: kind === 'timer' ? '' : part('name').name(LONGEST_NAME),
      line: place.line === null ? null : part('line').integer(1, LARGEST_CALL),
      function: place.function === null ? null : part('function').name(LONGEST_NAME),
      calls: part('calls').integer(1, LARGEST_CALL),
    };
  });
}

function consumed(list: readonly unknown[], sent: ReadonlySet<string>): ConsumedSignal[] {
  const seen = new Set<string>();
  return list.map((each) => {
    const { key, wait } = new Checked(each, 'a consumed signal').object();
    if (typeof key !== 'string' || !sent.has(key) || seen.has(key)) throw new InvalidReply('it consumed a signal that it was not given');
    seen.add(key);
    return { key, wait: new Checked(wait, 'the wait of a signal').integer(1, LARGEST_CALL) };
  });
}

function groupsOf(list: readonly unknown[], last: number): ResumeGroup[] {
  return list.map((each) => {
    const { members, until } = new Checked(each, 'a group').object();
    const numbers = new Checked(members, 'the members of a group').list();
    return {
      members: numbers.map((member) => new Checked(member, 'a member').integer(1, last)),
      until: new Checked(until, 'the end of a group').oneOf(['all', 'settled'] as const),
    };
  });
}

function errorData(value: unknown, depth: number): ErrorData {
  const { name, message, code, data, attempts, stack, cause } = new Checked(value, 'the error').object();
  const text = (part: unknown, what: string) => new Checked(part, `the ${what} of the error`).string();
  if (depth > DEEPEST_CAUSE) throw new InvalidReply('the causes of its error are nested too deeply');
  return {
    name: text(name, 'name'),
    message: text(message, 'message'),
    ...(code === undefined ? {} : { code: text(code, 'code') }),
    ...(data === undefined ? {} : { data }),
    ...(attempts === undefined ? {} : { attempts: new Checked(attempts, 'attempts').number(0, Number.MAX_SAFE_INTEGER) }),
    ...(stack === undefined ? {} : { stack: text(stack, 'stack') }),
    ...(cause === undefined ? {} : { cause: errorData(cause, depth + 1) }),
  };
}

// What is checked in one piece, in characters; other work of the worker runs in between.
const SLICE = 262_144;

/** The texts of a reply: each may be referred to once, and those that must be JSON are checked together at the end. */
class JsonTexts {
  private readonly unchecked: string[] = [];
  private readonly used = new Set<number>();

  constructor(
    private readonly texts: readonly string[],
    private readonly most: number,
  ) {}

  /** A text that is to be JSON, as large as a payload may be. */
  take(index: unknown, what: string): string {
    const text = this.text(index, what);
    if (text.length > this.most) throw new InvalidReply(`${what} has ${text.length} characters`);
    this.unchecked.push(text);
    return text;
  }

  text(index: unknown, what: string): string {
    const at = new Checked(index, what).integer(0, this.texts.length - 1);
    if (this.used.has(at)) throw new InvalidReply(`${what} is a text that was used before`);
    this.used.add(at);
    return this.texts[at];
  }

  parse(index: unknown, what: string): unknown {
    return parsed(this.text(index, what), what);
  }

  async check(): Promise<void> {
    let length = 0;
    for (const text of this.unchecked) {
      length += text.length;
      if (length > SLICE) {
        length = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
      parsed(text, 'a payload');
      if (isDeeper(text, DEEPEST_PAYLOAD)) throw new InvalidReply('a payload is nested too deeply');
    }
  }
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\[]{}'].map((each) => each.charCodeAt(0));

// Of JSON, without making its values: others walk them with recursion.
function isDeeper(json: string, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) {
      for (at++; json.charCodeAt(at) !== QUOTE; at++) if (json.charCodeAt(at) === BACKSLASH) at++;
    } else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      if (++depth > most) return true;
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth--;
  }
  return false;
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidReply(`${what} is not JSON`);
  }
}
