// `rhythm check`: compiles flows and shows every error in them.

import { readFileSync } from 'node:fs';
import { check, type Diagnostic, renderDiagnostic } from '../../../libs/flow/index.js';
import { type CliCommand, EXIT } from '../command.js';
import { findFlowFiles } from '../find-flow-files.js';
import { count } from '../format.js';
import { visible, visibleLines } from '../output.js';

export const checkCommand: CliCommand = (program, context) => {
  program
    .command('check')
    .description('Compile .flow files and report every error with its place, its reason and what to write instead.')
    .argument('<paths...>', 'files, folders, or patterns such as "flows/**/*.flow"')
    .addHelpText('after', '\nJSON data: { files, errors: [{ file, line, column, code, message, advice }] }')
    .addHelpText('after', '\nExamples:\n  rhythm check flows\n  rhythm check "src/**/*.flow" --json')
    .action(
      context.action((paths: string[]) => {
        const files = findFlowFiles(paths);
        const errors = files.flatMap((file) => check(readFileSync(file, 'utf8'), { file }));
        const data = {
          files,
          errors: errors.map(({ file, line, column, code, message, advice }) => ({ file, line, column, code, message, advice })),
        };
        const print = () => {
          for (const error of errors) context.print(...visibleLines(renderDiagnostic(oneLineEach(error))));
          context.note(
            errors.length === 0
              ? `No errors in ${count(files.length, 'file')}.`
              : `${count(errors.length, 'error')} in ${new Set(errors.map(({ file }) => file)).size} of ${count(files.length, 'file')}.`,
          );
        };
        return context.report(data, print, errors.length === 0 ? EXIT.ok : EXIT.failed);
      }),
    );
};

// The name of a file, and what a message quotes from the source, cannot begin a line of their own.
function oneLineEach(error: Diagnostic): Diagnostic {
  return { ...error, file: visible(error.file), message: visible(error.message), advice: visible(error.advice) };
}
