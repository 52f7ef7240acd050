// `rhythm completion`: prints the completion script for a shell.

import type { CliCommand } from '../command.js';
import { completionScript, SHELLS } from '../completion.js';
import { visibleLines } from '../output.js';

export const completionCommand: CliCommand = (program, context) => {
  program
    .command('completion')
    .description('Print a completion script for your shell.')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText('after', '\nJSON data: { shell, script }')
    .addHelpText(
      'after',
      '\nExamples:\n  eval "$(rhythm completion bash)"\n  eval "$(rhythm completion zsh)"\n  rhythm completion fish | source',
    )
    .action(
      context.action((shell: string) => {
        const script = completionScript(program, shell);
        return context.report({ shell, script }, () => context.print(...visibleLines(script.trimEnd())));
      }),
    );
};
