// Reads a golden: a small flow whose leading comments describe what happens around it and its expected outcome.
//
//   // inputs: {"a": 1}                       the run's inputs, JSON
//   // task charge: {"id": 7}                 the result of a call (nothing after the colon: undefined); more lines, more calls; the last repeats
//   // task charge after 10s: 5               … only when the virtual clock has moved that far
//   // task charge fails: Declined: no money  … a failure (or JSON: {"name", "message", "code", "data", "attempts"})
//   // task charge never                      … it never ends              (`workflow name …` does the same for children)
//   // signal go at 2: {"ok": true}           sent after two events; without `at`, when nothing else can happen
//   // cancel at 1
//   // withdrawn: 2                           the durable calls that Flow must have withdrawn by the end
//   // muted: 2                               the waits that must have stopped taking signals while they went on waiting
//   // expect: {"sum": 6}                     the return value as JSON text (`undefined` for none)
//   // throws: TypeError                      the error's name, or `Name: message` when the flow made the message
//   // log: line                              one per line of the run's log; when any is given all are compared
//   // stuck                                  the run waits forever
//   // error 3:7: text                        a compile error at that place whose message contains the text
//   // v8: no – reason                        not run in V8 (the behaviour is Flow's own)
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorData } from '../../libs/flow/turn.js';
import type { Script, ScriptedResult } from './timeline.js';

/** A program with what happens around it; a generated one has no expectation except the outcome in V8. */
export interface Case {
  path: string;
  source: string;
  script: Script;
}

export interface Golden extends Case {
  file: string;
  expect?: string;
  throws?: string;
  stuck: boolean;
  log?: string[];
  errors: { line: number; column: number; text: string }[];
  runsInV8: boolean;
}

const FOLDER = join(import.meta.dirname, 'goldens');

/** All goldens, in the order of their paths. */
export function readGoldens(): Golden[] {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.flow'));
  return files.sort().map((file) => {
    const whole = join(FOLDER, file);
    return parseGolden(file.replaceAll('\\', '/').slice(0, -'.flow'.length), whole, readFileSync(whole, 'utf8'));
  });
}

/** Reads one golden from its source. */
export function parseGolden(path: string, file: string, source: string): Golden {
  const script: Script = { results: {}, signals: [], withdrawn: [], muted: [] };
  const golden: Golden = { path, file, source, script, stuck: false, errors: [], runsInV8: true };
  for (const line of source.split('\n')) {
    const comment = /^\/\/ (.*)$/.exec(line)?.[1];
    if (comment !== undefined) readDirective(golden, comment.trimEnd());
  }
  if (golden.expect === undefined && golden.throws === undefined && !golden.stuck && golden.errors.length === 0) golden.expect = '';
  return golden;
}

function readDirective(golden: Golden, comment: string): void {
  const { script } = golden;
  const match =
    /^(inputs|expect|throws|log|withdrawn|muted|v8): ?(.*)$/.exec(comment) ??
    /^(stuck|cancel at) ?(\d*)$/.exec(comment) ??
    /^(task|workflow) (\S+?)( after \S+| fails| never)?(?:: ?(.*))?$/.exec(comment) ??
    /^(signal) (\S+?)( at \d+)?(?:: ?(.*))?$/.exec(comment) ??
    /^(error) (\d+):(\d+): ?(.*)$/.exec(comment);
  if (!match) return;
  const [, kind, first, second, third] = match;
  if (kind === 'inputs') script.inputs = JSON.stringify(JSON.parse(first));
  else if (kind === 'expect') golden.expect = first;
  else if (kind === 'throws') golden.throws = first;
  else if (kind === 'stuck') golden.stuck = true;
  else if (kind === 'log') golden.log = [...(golden.log ?? []), first];
  else if (kind === 'withdrawn' || kind === 'muted') script[kind] = first.split(',').map(Number);
  else if (kind === 'v8') golden.runsInV8 = !first.startsWith('no');
  else if (kind === 'cancel at') script.cancelAt = Number(first);
  else if (kind === 'task' || kind === 'workflow')
    script.results[first] = [...(script.results[first] ?? []), readResult(second?.trim(), third)];
  else if (kind === 'signal')
    script.signals.push({ name: first, payload: third || undefined, at: second ? Number(second.trim().slice(3)) : undefined });
  else golden.errors.push({ line: Number(first), column: Number(second), text: third });
}

function readResult(how: string | undefined, text: string | undefined): ScriptedResult {
  if (how === 'never') return { never: true };
  if (how === 'fails') return { error: readError(text ?? 'Error') };
  const value = text ? JSON.stringify(JSON.parse(text)) : undefined;
  return how === undefined ? { value } : { value, afterMs: milliseconds(how.slice('after '.length)) };
}

function readError(text: string): ErrorData {
  if (text.startsWith('{')) return JSON.parse(text);
  const [name, ...message] = text.split(': ');
  return { name, message: message.join(': ') };
}

function milliseconds(text: string): number {
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[/[a-z]+$/.exec(text)?.[0] ?? 'ms'];
  if (unit === undefined) throw new Error(`A golden says "after ${text}"; write a number with ms, s, m, h or d.`);
  return Number.parseFloat(text) * unit;
}
