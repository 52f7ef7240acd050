// `rhythm start`: starts a workflow or a task; with --wait, waits for its result.

import { Option } from 'commander';
import { parseDuration } from '../../duration.js';
import type { ConflictPolicy, StartOptions } from '../../execution/start-options.js';
import type { CliCommand } from '../command.js';
import { jsonText, visibleLines } from '../output.js';
import { readJsonFlag } from '../read-json.js';
import { readInteger } from '../read-number.js';

interface StartFlags {
  input?: string;
  id?: string;
  key?: string;
  onConflict?: ConflictPolicy;
  type?: 'workflow' | 'task';
  queue?: string;
  priority?: string;
  delay?: string;
  at?: string;
  timeout?: string;
  tag?: string[];
  flowVersion?: string;
  wait?: string | boolean;
}

export const startCommand: CliCommand = (program, context) => {
  program
    .command('start')
    .description('Start a workflow by name, in its current version, or a task.')
    .argument('<name>', 'the workflow, or with --type task the task')
    .option('--input <json>', 'its input; @file reads a file')
    .option('--id <id>', 'your own id; a second start with the same id and input returns the same run')
    .option('--key <key>', 'an idempotency key; like --id, but unique per name only')
    .addOption(
      new Option('--on-conflict <policy>', 'with --id or --key: what to do if such a run exists').choices([
        'return',
        'fail',
        'restart-ended',
        'cancel-running',
      ]),
    )
    .addOption(new Option('--type <type>', 'what the name refers to; needed to start a task').choices(['workflow', 'task']))
    .option('--queue <queue>', 'the queue to put it in')
    .option('--priority <n>', 'higher runs first; -32768 to 32767')
    .option('--delay <duration>', 'start this much later: 30s, 24h, …')
    .option('--at <date>', 'start at this time: 2030-01-31T09:00:00Z')
    .option('--timeout <duration>', 'the limit for the whole run of a workflow, or for one attempt of a task')
    .option('--tag <tag...>', 'tags to find it by')
    .option('--flow-version <hash>', 'start this stored version instead of the current one')
    .option('--wait [duration]', 'wait until it ends (at most this long) and print the result; exit code 1 if it fails')
    .addHelpText('after', '\nJSON data: { id, created }, with --wait also result')
    .addHelpText(
      'after',
      `\nExamples:\n  rhythm start order --input '{"orderId":"o-1"}' --id o-1\n  rhythm start report --input @report.json --wait 5m\n  rhythm start send-mail --type task --input '{"to":"kim@example.com"}'`,
    )
    .action(
      context.action((name: string, flags: StartFlags) => {
        const input = flags.input === undefined ? undefined : readJsonFlag(flags.input, '--input');
        const options = startOptions(flags);
        // Parsed before anything is started.
        const timeout = typeof flags.wait === 'string' ? parseDuration(flags.wait, '--wait') : undefined;
        return context.withServices(async ({ executions }) => {
          const started = await executions.start(name, input, options);
          if (flags.wait === undefined) {
            return context.report(started, () => {
              context.print(started.id);
              context.note(started.created ? `Started ${name}.` : 'It was already started, with the same input.');
            });
          }
          context.note(`Started ${name} as ${started.id}; waiting for it to end.`);
          const result = await executions.result(started.id, { timeout, signal: context.interrupted });
          return context.report({ ...started, result }, () => context.print(...visibleLines(jsonText(result, 2) ?? 'undefined')));
        });
      }),
    );
};

function startOptions(flags: StartFlags): StartOptions {
  const { id, key, onConflict, type, queue, priority, delay, at, timeout, tag, flowVersion } = flags;
  const options = {
    id,
    idempotencyKey: key,
    onConflict,
    type,
    queue,
    priority: priority === undefined ? undefined : readInteger(priority, '--priority', -32_768, 32_767),
    delay,
    runAt: at,
    timeout,
    tags: tag,
    version: flowVersion,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
