// `rhythm check`: compiles flows and shows everything that is wrong with them.

import { readFileSync } from 'node:fs';
import { check, renderDiagnostic } from '../../../libs/flow/index.js';
import { type CliCommand, EXIT } from '../command.js';
import { findFlowFiles } from '../find-flow-files.js';
import { count } from '../wording.js';

export const checkCommand: CliCommand = (program, context) => {
  program
    .command('check')
    .description('Compile .flow files and report every fault with its place, its reason and what to write instead.')
    .argument('<paths...>', 'files, folders, or patterns such as "flows/**/*.flow"')
    .addHelpText('after', '\nJSON data: { files, faults: [{ file, line, column, code, message, advice }] }')
    .addHelpText('after', '\nExamples:\n  rhythm check flows\n  rhythm check "src/**/*.flow" --json')
    .action(
      context.act((paths: string[]) => {
        const files = findFlowFiles(paths);
        const faults = files.flatMap((file) => check(readFileSync(file, 'utf8'), { file }));
        const data = {
          files,
          faults: faults.map(({ file, line, column, code, message, advice }) => ({ file, line, column, code, message, advice })),
        };
        const say = () => {
          for (const fault of faults) context.print(renderDiagnostic(fault));
          context.note(
            faults.length === 0
              ? `${files.length} ${files.length === 1 ? 'flow is' : 'flows are'} fine.`
              : `${count(faults.length, 'fault')} in ${new Set(faults.map((fault) => fault.file)).size} of ${count(files.length, 'file')}.`,
          );
        };
        return context.answer(data, say, faults.length === 0 ? EXIT.ok : EXIT.failed);
      }),
    );
};
