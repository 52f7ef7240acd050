// `rhythm show`: everything about one execution: its current line, what it waits for, what happened, what it called.

import type { HistoryEntry } from '../../../libs/store/index.js';
import type { Execution, ExecutionTree } from '../../execution/execution.js';
import type { Inspection } from '../../execution/inspect-run.js';
import { showAllowList } from '../../flows/allow-list-change.js';
import type { CliCommand, CliContext } from '../command.js';
import { age, brief, count, paintStatus, span, took } from '../format.js';
import { line, Painted, type Printable } from '../output.js';
import { readInteger } from '../read-number.js';
import type { CliServices } from '../services.js';
import { type Place, placeOfError, showSource } from '../show-source.js';
import { showTree } from '../show-tree.js';
import { cutPainted } from '../table.js';
import { WATCH, watching } from '../watch.js';

const MOST_TURNS = 2_147_483_647;

interface ShowFlags {
  source?: boolean;
  events: string;
  watch?: string | boolean;
  turn?: string;
}

interface ExecutionDetails {
  execution: Execution;
  inspection: Omit<Inspection, 'text'>;
  source: string | null;
  history: HistoryEntry[];
  tree: ExecutionTree;
}

export const showCommand: CliCommand = (program, context) => {
  program
    .command('show')
    .description('Show one execution: its current line, its variables, what it waits for, its timeline and what it called.')
    .argument('<id>', 'the execution')
    .option('--source', 'show the whole source, however long it is')
    .option('--events <n>', 'timeline entries to show, at most 10000', '30')
    .option('--turn <n>', 'show the state that it kept after this turn (history.snapshots) instead of the present one')
    .option(...WATCH)
    .addHelpText(
      'after',
      '\nJSON data: { execution, inspection: { branches, pending, timers, signals, events, … }, source, history: [entry], tree }',
    )
    .addHelpText(
      'after',
      '\nWith --watch, the command ends when the execution has ended.\n\nExamples:\n  rhythm show o-1\n  rhythm show o-1 --watch 1s\n  rhythm show o-1 --json',
    )
    .action(
      context.action((id: string, flags: ShowFlags) => {
        const limit = readInteger(flags.events, '--events', 1, 10_000);
        const turn = flags.turn === undefined ? undefined : readInteger(flags.turn, '--turn', 1, MOST_TURNS);
        return context.withServices(async (services) => {
          await watching(context, flags.watch, async () => {
            const details = await read(services, id, limit, turn);
            context.report(details, () => print(details, flags, context));
            return details.execution.finishedAt !== null;
          });
          return undefined;
        });
      }),
    );
};

async function read(
  { executions, definitions }: CliServices,
  id: string,
  limit: number,
  turn: number | undefined,
): Promise<ExecutionDetails> {
  const execution = await executions.get(id);
  const [{ text: _, ...inspection }, history, tree] = await Promise.all([
    executions.inspect(id, { turn }),
    executions.history(id, { limit }),
    executions.tree(id),
  ]);
  const versions = execution.type === 'workflow' ? await definitions.versions(execution.name) : [];
  const source = versions.find(({ version }) => version === execution.version)?.source ?? null;
  return { execution, inspection, source, history, tree };
}

function print(details: ExecutionDetails, flags: ShowFlags, context: CliContext): void {
  const { terminal } = context;
  const section = (title: string, lines: readonly Printable[]) => {
    if (lines.length === 0) return;
    const fitted = lines.map((each) => cutPainted(line`  ${each}`, terminal.columns));
    context.print('', terminal.colours.bold(title), ...fitted);
  };
  const { execution, inspection, source, tree } = details;
  context.print(...heading(details, context));
  section(inspection.turn === null ? 'Waits for' : `Waited for after turn ${inspection.turn}`, waits(details));
  section('State', inspection.unreadable === null ? [] : [inspection.unreadable]);
  section('Error', errorLines(execution));
  if (source !== null) {
    const lines = showSource(source, places(details), flags.source === true, terminal);
    section(inspection.file ?? `${execution.name}.flow`, lines);
  }
  section('Variables', variables(inspection));
  section(
    'Signals not taken yet',
    inspection.signals.map(({ name, sentAt }) => `${name}  ${age(new Date(sentAt))} ago`),
  );
  section('Timeline', timeline(details, context));
  section('Called', showTree(tree, terminal));
}

function heading({ execution: run, inspection }: ExecutionDetails, { terminal }: CliContext): Painted[] {
  const { colours } = terminal;
  const facts: [string, Printable | undefined][] = [
    ['status', line`${paintStatus(run.status, run.status, terminal)}${run.note ? `: ${run.note}` : ''}`],
    ['version', run.version?.slice(0, 12)],
    ['allowed', showAllowList(inspection.allow) || undefined],
    ['called by', run.parentId ?? undefined],
    ['queue', `${run.queue}${run.priority === 0 ? '' : `, priority ${run.priority}`}`],
    ['created', `${run.createdAt.toISOString()} (${age(run.createdAt)} ago)`],
    ['took', took(run) || undefined],
    ['worker', run.workerId ?? undefined],
    ['attempts', run.attempts > 0 ? `${run.attempts} failed` : undefined],
    ['crashes', run.crashes > 0 ? `${count(run.crashes, 'worker')} crashed while running it` : undefined],
    ['tags', run.tags.join(' ') || undefined],
    ['progress', run.progress == null ? undefined : brief(run.progress)],
    ['input', run.input === undefined ? undefined : brief(run.input, 500)],
    ['result', run.status === 'completed' ? brief(run.output, 500) : undefined],
  ];
  return [
    line`${run.type} ${colours.bold(run.name)}  ${run.id}`,
    ...facts.filter(([, value]) => value !== undefined).map(([label, value]) => line`${colours.dim(label.padEnd(10))}${value!}`),
  ];
}

function waits({ execution, inspection }: ExecutionDetails): string[] {
  if (execution.finishedAt && inspection.turn === null) return [];
  return inspection.branches.map(({ waitsFor, calls }) => {
    const timer = inspection.timers.find(({ call }) => calls.includes(call));
    const due = timer ? new Date(timer.dueAt) : undefined;
    return `${waitsFor}${due ? until(due, inspection.turn) : ''}`;
  });
}

function until(due: Date, turn: number | null): string {
  const leftMs = due.getTime() - Date.now();
  const left = leftMs >= 0 ? `in ${span(leftMs)}` : `overdue by ${span(-leftMs)}`;
  return `, until ${due.toISOString()}${turn === null ? ` (${left})` : ''}`;
}

function errorLines({ error }: Execution): string[] {
  if (!error) return [];
  const lines = [`${error.name}: ${error.message}${error.code ? ` (${error.code})` : ''}`];
  if (error.data !== undefined) lines.push(`data: ${brief(error.data)}`);
  const stack = (error.stack ?? '').split('\n').filter((each) => /^\s+at /.test(each));
  lines.push(...stack.slice(0, 10).map((each) => `  ${each.trim()}`));
  if (error.cause) lines.push(`caused by ${error.cause.name}: ${error.cause.message}`);
  return lines;
}

// Where it failed; for an error without a flow stack (a task's), the await from which a retry continues; otherwise where it waits.
function places({ execution, inspection }: ExecutionDetails): Place[] {
  const failed = execution.status === 'failed' && inspection.turn === null ? placeOfError(execution.error?.stack) : undefined;
  if (failed) return [failed];
  return execution.finishedAt && execution.status !== 'failed' && inspection.turn === null
    ? []
    : inspection.branches.flatMap(({ stack }) => stack.map((frame) => ({ line: frame.line, column: frame.column })));
}

function variables({ branches }: ExecutionDetails['inspection']): string[] {
  return branches.flatMap(({ stack }) =>
    stack.flatMap(({ function: name, line: at, locals }) => {
      const entries = Object.entries(locals);
      if (entries.length === 0) return [];
      return [`${name}, line ${at}`, ...entries.map(([local, value]) => `  ${local} = ${brief(value)}`)];
    }),
  );
}

function timeline({ execution, history }: ExecutionDetails, { terminal }: CliContext): Painted[] {
  return history.map(({ at, kind, name, executionId, workerId, detail }) => {
    const since = `+${span(at.getTime() - execution.createdAt.getTime())}`.padStart(8);
    const child = executionId === execution.id ? '' : `  ${name}`;
    const more = detail === null || detail === undefined ? '' : `  ${brief(message(detail), 120)}`;
    const worker = workerId ? terminal.colours.dim(`  ${workerId}`) : '';
    return Painted.trusted(line`${terminal.colours.dim(since)}  ${kind.padEnd(15)}${child}${more}${worker}`.ansi.trimEnd());
  });
}

function message(detail: unknown): unknown {
  return (detail as { message?: string }).message ?? detail;
}
