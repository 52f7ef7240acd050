// `rhythm run`: runs a flow locally, with stubs for its tasks and no database.

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { compile, type Effect, type Program } from '../../../libs/flow/index.js';
import { checkFlowFile } from '../../flows/flow-files.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import { asUsage } from '../find-flow-files.js';
import { jsonText, visible, visibleLines } from '../output.js';
import { readJsonFlag } from '../read-json.js';
import { type LocalOutcome, type LocalResult, runLocally } from '../run-locally.js';
import { callStub, readStubs, type Stubs } from '../stubs.js';
import { UsageError } from '../usage-error.js';

interface RunOptions {
  inputs?: string;
  tasks?: string;
  signals?: string;
  quiet?: boolean;
}

type Signal = { name: string; payload: unknown };

/** Where the steps of a run are printed; times count from the start of the outermost run. */
interface Trace {
  context: CliContext;
  startedAt: number;
  depth: number;
}

export const runCommand: CliCommand = (program, context) => {
  program
    .command('run')
    .description('Run a .flow file locally: tasks return stub results, timers are skipped, no database is needed.')
    .argument('<file>', 'the flow')
    .option('--inputs <json>', 'the Inputs of the flow; @file reads a file')
    .option('--tasks <file>', 'stubs: { "task": result } in .json, or functions in .mjs; { "$throw": { "message" } } makes the task fail')
    .option('--signals <json>', 'signals sent before the run: { "name": payload } or [{ "name", "payload" }]')
    .option('--quiet', 'print only the result')
    .addHelpText('after', '\nJSON data: { status, output | error | waits, elapsedMs }')
    .addHelpText(
      'after',
      `\nExample:\n  rhythm run order.flow --inputs '{"orderId":"o-1"}' --tasks stubs.json --signals '{"approval":{"ok":true}}'`,
    )
    .action(
      context.action(async (file: string, options: RunOptions) => {
        const stubs = options.tasks === undefined ? {} : await readStubs(options.tasks);
        const inputs = options.inputs === undefined ? undefined : readJsonFlag(options.inputs, '--inputs');
        const signals = options.signals === undefined ? [] : readSignals(options.signals);
        const quiet = options.quiet === true || context.flags.json === true;
        const now = Date.now();
        const outcome = await runFile(file, inputs, stubs, signals, quiet ? undefined : { context, startedAt: now, depth: 0 }, now);
        return context.report(outcome, () => printOutcome(outcome, context), outcome.status === 'completed' ? EXIT.ok : EXIT.failed);
      }),
    );
};

async function runFile(
  file: string,
  inputs: unknown,
  stubs: Stubs,
  signals: readonly Signal[],
  trace: Trace | undefined,
  startedAt: number,
): Promise<LocalOutcome> {
  const program = compileFile(file);
  // A missing stub is wrong usage, not an error that the flow may catch.
  let usageError: unknown;
  const print = (now: number, text: string) =>
    trace?.context.note(`${'  '.repeat(trace.depth)}${clock(now - trace.startedAt)}  ${text}`.trimEnd());
  const waits = new Map<number, string>();
  let detached = 0;
  const outcome = await runLocally(program, basename(file, '.flow'), inputs, {
    startedAt,
    signals,
    onEffect: (effect, now) => print(now, describe(effect, waits)),
    onSignal: (name, payload, now) => print(now, `signal ${name} ${payload ?? ''}`),
    async call(kind, name, input, now) {
      try {
        if (kind === 'task' || Object.hasOwn(stubs, name)) return { value: await callStub(stubs, name, input), tookMs: 0 };
        return await runChild(join(dirname(file), `${name}.flow`), name, input, stubs, trace, now);
      } catch (error) {
        if (error instanceof UsageError) usageError ??= error;
        return { error, tookMs: 0 };
      }
    },
    // As in the engine: the call returns the id of the child at once, and what becomes of the child is its own affair.
    async detach(name, input, id, now) {
      try {
        if (Object.hasOwn(stubs, name)) await callStub(stubs, name, input);
        else await runChild(join(dirname(file), `${name}.flow`), name, input, stubs, trace, now);
      } catch (error) {
        if (error instanceof UsageError) usageError ??= error;
        else print(now, `detached workflow ${name}: ${(error as Error).message}`);
      }
      return id ?? `detached-${++detached}`;
    },
  });
  if (usageError) throw usageError;
  return outcome;
}

async function runChild(
  file: string,
  name: string,
  input: unknown,
  stubs: Stubs,
  trace: Trace | undefined,
  startedAt: number,
): Promise<LocalResult> {
  if (!existsSync(file))
    throw new UsageError(`The flow calls the workflow "${name}", but there is neither a file ${file} nor a stub with that name.`);
  const outcome = await runFile(file, input, stubs, [], trace && { ...trace, depth: trace.depth + 1 }, startedAt);
  const tookMs = outcome.elapsedMs;
  if (outcome.status === 'completed') return { value: outcome.output, tookMs };
  if (outcome.status === 'failed') return { error: outcome.error, tookMs };
  throw new Error(`waits forever for the signal ${outcome.waits.map((signal) => `"${signal}"`).join(', ')}`);
}

function compileFile(file: string): Program {
  if (!lstatSync(file, { throwIfNoEntry: false })) throw new UsageError(`The file ${file} does not exist.`);
  asUsage(() => checkFlowFile(file));
  // The name is a part of messages and stacks that are printed line by line.
  return compile(readFileSync(file, 'utf8'), { file: visible(file) });
}

function readSignals(text: string): Signal[] {
  const signals = readJsonFlag(text, '--signals');
  if (Array.isArray(signals)) return signals as Signal[];
  return Object.entries(signals as object).map(([name, payload]) => ({ name, payload }));
}

function printOutcome(outcome: LocalOutcome, context: CliContext): void {
  if (outcome.status === 'completed') context.print(...visibleLines(jsonText(outcome.output, 2) ?? 'undefined'));
  else if (outcome.status === 'failed') {
    const { name, message, code, stack, cause } = outcome.error;
    context.note(`failed: ${name}: ${message}${code ? ` (${code})` : ''}`);
    const places = stack?.split('\n').filter((each) => /^\s+at /.test(each)) ?? [];
    context.note(...places);
    if (cause) context.note(`caused by ${cause.name}: ${cause.message}`);
  } else {
    const signals = outcome.waits.map((signal) => `the signal "${signal}"`).join(' and ');
    context.note(signals ? `stuck: it waits for ${signals}. Send it with --signals.` : 'stuck: it waits for a promise that never settles.');
  }
}

// `waits` maps a call to what it waits for.
function describe(effect: Effect, waits: Map<number, string>): string {
  switch (effect.kind) {
    case 'task':
      return `task ${effect.name} ${effect.input ?? ''}`;
    case 'workflow':
      return `${effect.options.detached ? 'detached workflow' : 'workflow'} ${effect.name} ${effect.input ?? ''}`;
    case 'timer':
      waits.set(effect.id, 'the timer');
      return 'at' in effect ? `timer until ${new Date(effect.at).toISOString()}` : `timer ${clock(effect.delayMs)}`;
    case 'wait':
      waits.set(effect.id, `signal ${effect.signal}`);
      return `waits for signal ${effect.signal}${effect.timeoutMs === undefined ? '' : `, at most ${clock(effect.timeoutMs)}`}`;
    case 'withdraw':
      return `no longer waits for ${waits.get(effect.id) ?? `call ${effect.id}`}`;
    case 'cancel':
      return `cancels call ${effect.id}`;
    case 'log':
      return `${effect.level}: ${effect.message}`;
  }
}

function clock(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const rest = new Date(ms % 86_400_000).toISOString().slice(11, 23);
  return days > 0 ? `${days}d ${rest}` : rest;
}
