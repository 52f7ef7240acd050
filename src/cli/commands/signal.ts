// `rhythm signal`: sends a signal to a workflow run.

import { ExecutionStateError } from '../../errors.js';
import { type CliCommand, EXIT } from '../command.js';
import { NOT_ENDED } from '../filters.js';
import { readJsonFlag } from '../read-json.js';

export const signalCommand: CliCommand = (program, context) => {
  program
    .command('signal')
    .description('Send a signal to a workflow run. It is kept until a wait takes it.')
    .argument('<id>', 'the execution')
    .argument('<name>', 'the signal, as in Signal.when("approval")')
    .argument('[payload]', 'JSON; @file reads a file')
    .option('--key <key>', 'a second signal with the same key for the same run is dropped')
    .option('--early', 'send it even if no execution has this id yet; it is kept until one does')
    .addHelpText('after', '\nJSON data: { id, signal, accepted, known, ended }')
    .addHelpText(
      'after',
      `\nExamples:\n  rhythm signal o-1 approval '{"approved":true}'\n  rhythm signal o-2 approval @answer.json --key web-4711`,
    )
    .action(
      context.action((id: string, name: string, payload: string | undefined, flags: { key?: string; early?: boolean }) => {
        const value = payload === undefined ? undefined : readJsonFlag(payload, 'payload');
        return context.withServices(async ({ executions, signals }) => {
          // An id that does not exist is nearly always a typo; --early is for the other cases.
          if (!flags.early) {
            const { status, type } = await executions.get(id);
            if (type === 'task') throw new ExecutionStateError(id, 'a task', 'signal', 'Only workflows wait for signals.');
            if (!NOT_ENDED.includes(status)) throw new ExecutionStateError(id, status, 'signal', 'It has ended and takes no signals.');
          }
          const sent = await signals.send(id, name, value, flags.key === undefined ? undefined : { key: flags.key });
          return context.report(
            { id, signal: name, ...sent },
            () =>
              context.note(
                sent.accepted ? `Sent "${name}" to ${id}.` : `Not sent: ${id} already has a signal with the key "${flags.key}".`,
              ),
            EXIT.ok,
          );
        });
      }),
    );
};
