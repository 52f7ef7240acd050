// `rhythm cancel | pause | resume | retry`: by id, or many at once by filter.

import { ExecutionStateError, RhythmError } from '../../errors.js';
import type { Execution, ExecutionStatus } from '../../execution/execution.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import { addFilters, type FilterFlags, filterOf, hasFilter, NOT_ENDED, readStatuses } from '../filters.js';
import { count } from '../format.js';
import { line } from '../output.js';
import { Progress } from '../progress.js';
import type { CliServices } from '../services.js';
import { UsageError } from '../usage-error.js';

interface Control {
  verb: 'cancel' | 'pause' | 'resume' | 'retry';
  done: string;
  about: string;
  /** The statuses in which an execution can be changed this way. */
  from: readonly ExecutionStatus[];
  examples: string;
  apply(services: CliServices, id: string, flags: ControlFlags): Promise<void>;
}

interface ControlFlags extends FilterFlags {
  all?: boolean;
  yes?: boolean;
  reason?: string;
}

/** The outcome for one execution. */
interface Outcome {
  id: string;
  done: boolean;
  error?: { code: string; message: string };
}

const CONTROLS: readonly Control[] = [
  {
    verb: 'cancel',
    done: 'asked to cancel',
    about: 'Cancel executions. A workflow may clean up first; what it called is cancelled with it.',
    from: NOT_ENDED,
    examples: `rhythm cancel o-1 --reason "ordered twice"\n  rhythm cancel --name order --tag test --yes`,
    async apply({ executions }, id, { reason }) {
      const { status } = await executions.get(id);
      if (!NOT_ENDED.includes(status)) throw new ExecutionStateError(id, status, 'cancel', 'It has already ended.');
      await executions.cancel(id, reason === undefined ? undefined : { reason });
    },
  },
  {
    verb: 'pause',
    done: 'paused',
    about: 'Pause executions until they are resumed.',
    from: ['pending', 'running', 'suspended'],
    examples: 'rhythm pause o-1\n  rhythm pause --queue mail --yes',
    apply: ({ executions }, id) => executions.pause(id),
  },
  {
    verb: 'resume',
    done: 'resumed',
    about: 'Let paused executions continue.',
    from: ['paused'],
    examples: 'rhythm resume o-1\n  rhythm resume --all --yes',
    apply: ({ executions }, id) => executions.resume(id),
  },
  {
    verb: 'retry',
    done: 'retried',
    about: 'Continue failed workflows from the await that failed, and run failed tasks again.',
    from: ['failed'],
    examples: 'rhythm retry o-1\n  rhythm retry --status failed --name order --since 1h',
    apply: ({ executions }, id) => executions.retry(id),
  },
];

/** One command each. */
export const controlCommands: readonly CliCommand[] = CONTROLS.map((control) => (program, context) => {
  const command = program.command(control.verb).description(control.about).argument('[ids...]', 'the executions; or give a filter');
  if (control.verb === 'cancel') command.option('--reason <text>', 'the message of the CancelledError in the flow');
  addFilters(command)
    .option('--all', 'every execution that this command can change')
    .option('-y, --yes', 'do not ask before changing what a filter finds')
    .addHelpText('after', '\nJSON data: { matched, done, failed: [{ id, code, message }] }')
    .addHelpText(
      'after',
      `\nA filter finds executions without a parent (or, with --parent, those that one execution called). The command includes what they called.\n\nExamples:\n  ${control.examples}`,
    )
    .action(
      context.action((ids: string[], flags: ControlFlags) => {
        const filtered = flags.all === true || hasFilter(flags);
        if (ids.length > 0 && filtered) throw new UsageError('Give ids or a filter, not both.');
        if (ids.length === 0 && !filtered) {
          throw new UsageError(`Which executions? Give their ids, or a filter such as --name order --since 1h, or --all.`);
        }
        return context.withServices((services) =>
          filtered ? applyToFilter(services, control, flags, context) : applyToIds(services, control, ids, flags, context),
        );
      }),
    );
});

async function applyToIds(services: CliServices, control: Control, ids: readonly string[], flags: ControlFlags, context: CliContext) {
  const outcomes: Outcome[] = [];
  for (const id of ids) {
    const outcome = await applyToOne(services, control, id, flags);
    // With one id, its error is the error of the command.
    if (outcome.error && ids.length === 1) throw new RhythmError(outcome.error.code, outcome.error.message);
    outcomes.push(outcome);
  }
  return reportOutcomes(outcomes, control, context);
}

async function applyToFilter(services: CliServices, control: Control, flags: ControlFlags, context: CliContext): Promise<number> {
  const found = await find(services, control, flags, context);
  if (found.length === 0) return context.report({ matched: 0, done: 0, failed: [] }, () => context.note('No executions match.'));
  const sample = found.slice(0, 3).map(({ id, name }) => `${id} (${name})`);
  const question = `${control.verb} ${count(found.length, 'execution')}: ${sample.join(', ')}${found.length > 3 ? ', …' : ''}?`;
  if (!(await context.confirm(capitalized(question), flags.yes))) {
    context.note('Nothing was changed.');
    return EXIT.failed;
  }
  const progress = new Progress(context, control.verb, found.length);
  const outcomes: Outcome[] = [];
  const waiting = [...found];
  const applyToWaiting = async () => {
    for (let next = waiting.shift(); next && !context.interrupted.aborted; next = waiting.shift()) {
      outcomes.push(await applyToOne(services, control, next.id, flags));
      progress.add(1);
    }
  };
  await Promise.all([applyToWaiting(), applyToWaiting(), applyToWaiting()]);
  progress.end();
  return reportOutcomes(outcomes, control, context);
}

async function find(
  { executions }: CliServices,
  control: Control,
  flags: ControlFlags,
  context: CliContext,
): Promise<Pick<Execution, 'id' | 'name'>[]> {
  const status = flags.status === undefined ? [...control.from] : readStatuses(flags.status, control.from);
  const found: Pick<Execution, 'id' | 'name'>[] = [];
  let cursor: string | undefined;
  do {
    // Children are changed with their caller: a child that is retried alone would no longer belong to it.
    const page = await executions.list({ parentId: null, ...filterOf(flags), status, limit: 1_000, cursor });
    found.push(...page.items.map(({ id, name }) => ({ id, name })));
    cursor = page.next;
  } while (cursor && !context.interrupted.aborted);
  return found;
}

async function applyToOne(services: CliServices, { apply }: Control, id: string, flags: ControlFlags): Promise<Outcome> {
  try {
    await apply(services, id, flags);
    return { id, done: true };
  } catch (error) {
    if (!(error instanceof RhythmError)) throw error;
    return { id, done: false, error: { code: error.code, message: error.message } };
  }
}

function reportOutcomes(outcomes: readonly Outcome[], { done }: Control, context: CliContext): number {
  const failed = outcomes.filter((outcome) => !outcome.done);
  const data = {
    matched: outcomes.length,
    done: outcomes.length - failed.length,
    failed: failed.map(({ id, error }) => ({ id, ...error })),
  };
  const print = () => {
    for (const { error } of failed) context.note(line`${context.terminal.colours.red('error:')} ${error?.message ?? ''}`);
    context.note(`${count(data.done, 'execution')} ${done}${failed.length > 0 ? `, ${failed.length} failed` : ''}.`);
  };
  return context.report(data, print, failed.length === 0 ? EXIT.ok : EXIT.failed);
}

function capitalized(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
