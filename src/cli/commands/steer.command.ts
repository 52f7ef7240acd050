// `rhythm cancel | pause | resume | retry`: by id, or many at once by filter.

import { ExecutionStateError, RhythmError } from '../../errors.js';
import type { Execution, ExecutionStatus } from '../../execution/execution.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import { addFilters, type FilterFlags, filterOf, hasFilter, readStatuses } from '../filters.js';
import { Progress } from '../progress.js';
import type { CliServices } from '../services.js';
import { UsageError } from '../usage-error.js';
import { count } from '../wording.js';

interface Steering {
  verb: 'cancel' | 'pause' | 'resume' | 'retry';
  done: string;
  about: string;
  /** What it can be done to. */
  from: readonly ExecutionStatus[];
  examples: string;
  act(services: CliServices, id: string, flags: SteerFlags): Promise<void>;
}

interface SteerFlags extends FilterFlags {
  all?: boolean;
  yes?: boolean;
  reason?: string;
}

/** What became of one execution. */
interface Outcome {
  id: string;
  done: boolean;
  error?: { code: string; message: string };
}

const LIVE: readonly ExecutionStatus[] = ['pending', 'running', 'suspended', 'paused'];

const STEERINGS: readonly Steering[] = [
  {
    verb: 'cancel',
    done: 'asked to cancel',
    about: 'Cancel executions. A workflow may clean up first; what it called is cancelled with it.',
    from: LIVE,
    examples: `rhythm cancel o-1 --reason "ordered twice"\n  rhythm cancel --name order --tag test --yes`,
    async act({ executions }, id, { reason }) {
      const { status } = await executions.get(id);
      if (!LIVE.includes(status)) throw new ExecutionStateError(id, status, 'cancel', 'It has already ended.');
      await executions.cancel(id, reason === undefined ? undefined : { reason });
    },
  },
  {
    verb: 'pause',
    done: 'paused',
    about: 'Pause executions until they are resumed.',
    from: ['pending', 'running', 'suspended'],
    examples: 'rhythm pause o-1\n  rhythm pause --queue mail --yes',
    act: ({ executions }, id) => executions.pause(id),
  },
  {
    verb: 'resume',
    done: 'resumed',
    about: 'Let paused executions continue.',
    from: ['paused'],
    examples: 'rhythm resume o-1\n  rhythm resume --all --yes',
    act: ({ executions }, id) => executions.resume(id),
  },
  {
    verb: 'retry',
    done: 'retried',
    about: 'Continue failed workflows from the await that failed, and run failed tasks again.',
    from: ['failed'],
    examples: 'rhythm retry o-1\n  rhythm retry --status failed --name order --since 1h',
    act: ({ executions }, id) => executions.retry(id),
  },
];

/** One command for each way to steer. */
export const steerCommands: readonly CliCommand[] = STEERINGS.map((steering) => (program, context) => {
  const command = program.command(steering.verb).description(steering.about).argument('[ids...]', 'the executions; or give a filter');
  if (steering.verb === 'cancel') command.option('--reason <text>', 'the message of the CancelledError in the flow');
  addFilters(command)
    .option('--all', 'every execution that this command can change')
    .option('-y, --yes', 'do not ask before changing what a filter finds')
    .addHelpText('after', '\nJSON data: { matched, done, failed: [{ id, code, message }] }')
    .addHelpText(
      'after',
      `\nA filter finds executions without a parent (or, with --parent, those that one execution called). The command includes what they called.\n\nExamples:\n  ${steering.examples}`,
    )
    .action(
      context.act((ids: string[], flags: SteerFlags) => {
        const filtered = flags.all === true || hasFilter(flags);
        if (ids.length > 0 && filtered) throw new UsageError('Give ids or a filter, not both.');
        if (ids.length === 0 && !filtered) {
          throw new UsageError(`Which executions? Give their ids, or a filter such as --name order --since 1h, or --all.`);
        }
        return context.withServices((services) =>
          filtered ? many(services, steering, flags, context) : each(services, steering, ids, flags, context),
        );
      }),
    );
});

async function each(services: CliServices, steering: Steering, ids: readonly string[], flags: SteerFlags, context: CliContext) {
  const outcomes: Outcome[] = [];
  for (const id of ids) {
    const outcome = await steer(services, steering, id, flags);
    // One id: its error is the error of the command.
    if (outcome.error && ids.length === 1) throw new RhythmError(outcome.error.code, outcome.error.message);
    outcomes.push(outcome);
  }
  return report(outcomes, steering, context);
}

async function many(services: CliServices, steering: Steering, flags: SteerFlags, context: CliContext): Promise<number> {
  const found = await find(services, steering, flags, context);
  if (found.length === 0) return context.answer({ matched: 0, done: 0, failed: [] }, () => context.note('No executions match.'));
  const sample = found.slice(0, 3).map(({ id, name }) => `${id} (${name})`);
  const question = `${steering.verb} ${count(found.length, 'execution')}: ${sample.join(', ')}${found.length > 3 ? ', …' : ''}?`;
  if (!(await context.confirm(capital(question), flags.yes))) {
    context.note('Nothing was changed.');
    return EXIT.failed;
  }
  const progress = new Progress(context, steering.verb, found.length);
  const outcomes: Outcome[] = [];
  const waiting = [...found];
  const work = async () => {
    for (let next = waiting.shift(); next && !context.interrupted.aborted; next = waiting.shift()) {
      outcomes.push(await steer(services, steering, next.id, flags));
      progress.add(1);
    }
  };
  await Promise.all([work(), work(), work()]);
  progress.end();
  return report(outcomes, steering, context);
}

async function find(
  { executions }: CliServices,
  steering: Steering,
  flags: SteerFlags,
  context: CliContext,
): Promise<Pick<Execution, 'id' | 'name'>[]> {
  const status = flags.status === undefined ? [...steering.from] : readStatuses(flags.status, steering.from);
  const found: Pick<Execution, 'id' | 'name'>[] = [];
  let cursor: string | undefined;
  do {
    // Children follow whoever called them: a child that is retried by itself would no longer be its caller's.
    const page = await executions.list({ parentId: null, ...filterOf(flags), status, limit: 1_000, cursor });
    found.push(...page.items.map(({ id, name }) => ({ id, name })));
    cursor = page.next;
  } while (cursor && !context.interrupted.aborted);
  return found;
}

async function steer(services: CliServices, { act }: Steering, id: string, flags: SteerFlags): Promise<Outcome> {
  try {
    await act(services, id, flags);
    return { id, done: true };
  } catch (error) {
    if (!(error instanceof RhythmError)) throw error;
    return { id, done: false, error: { code: error.code, message: error.message } };
  }
}

function report(outcomes: readonly Outcome[], { done }: Steering, context: CliContext): number {
  const failed = outcomes.filter((outcome) => !outcome.done);
  const data = {
    matched: outcomes.length,
    done: outcomes.length - failed.length,
    failed: failed.map(({ id, error }) => ({ id, ...error })),
  };
  const say = () => {
    for (const { error } of failed) context.note(`${context.terminal.colours.red('error:')} ${error?.message}`);
    context.note(`${count(data.done, 'execution')} ${done}${failed.length > 0 ? `, ${failed.length} failed` : ''}.`);
  };
  return context.answer(data, say, failed.length === 0 ? EXIT.ok : EXIT.failed);
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
