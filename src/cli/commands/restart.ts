// `rhythm restart`: runs an execution that has ended again from the beginning.

import { parseDuration } from '../../duration.js';
import type { CliCommand } from '../command.js';
import { jsonText, visibleLines } from '../output.js';
import { readJsonFlag } from '../read-json.js';

interface RestartFlags {
  input?: string;
  wait?: string | boolean;
}

export const restartCommand: CliCommand = (program, context) => {
  program
    .command('restart')
    .description('Run an execution that has ended again from the beginning, under its id. The old run and what it called are removed.')
    .argument('<id>', 'the execution')
    .option('--input <json>', 'another input; @file reads a file')
    .option('--wait [duration]', 'wait until it ends (at most this long) and print the result; exit code 1 if it fails')
    .addHelpText('after', '\nJSON data: { id }, with --wait also result')
    .addHelpText('after', `\nExamples:\n  rhythm restart o-1\n  rhythm restart o-1 --input '{"orderId":"o-1","rush":true}' --wait 5m`)
    .action(
      context.action((id: string, flags: RestartFlags) => {
        const options = flags.input === undefined ? undefined : { input: readJsonFlag(flags.input, '--input') };
        const timeout = typeof flags.wait === 'string' ? parseDuration(flags.wait, '--wait') : undefined;
        return context.withServices(async ({ executions }) => {
          await executions.restart(id, options);
          if (flags.wait === undefined) return context.report({ id }, () => context.note(`Restarted ${id}.`));
          context.note(`Restarted ${id}; waiting for it to end.`);
          const result = await executions.result(id, { timeout, signal: context.interrupted });
          return context.report({ id, result }, () => context.print(...visibleLines(jsonText(result, 2) ?? 'undefined')));
        });
      }),
    );
};
