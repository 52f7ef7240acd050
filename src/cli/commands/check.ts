// `rhythm check`: compiles flows and shows every error and warning in them.

import { readFileSync } from 'node:fs';
import { check, type Diagnostic, renderDiagnostic } from '../../../libs/flow/index.js';
import { type CliCommand, EXIT } from '../command.js';
import { findFlowFiles } from '../find-flow-files.js';
import { count } from '../format.js';
import { visible, visibleLines } from '../output.js';

export const checkCommand: CliCommand = (program, context) => {
  program
    .command('check')
    .description('Compile .flow files and report every error and warning with its place, its reason and what to write instead.')
    .argument('<paths...>', 'files, folders, or patterns such as "flows/**/*.flow"')
    .addHelpText(
      'after',
      '\nJSON data: { files, errors: [{ file, line, column, code, message, advice }], warnings: [the same] }\nWarnings alone do not fail.',
    )
    .addHelpText('after', '\nExamples:\n  rhythm check flows\n  rhythm check "src/**/*.flow" --json')
    .action(
      context.action((paths: string[]) => {
        const files = findFlowFiles(paths);
        const found = files.flatMap((file) => check(readFileSync(file, 'utf8'), { file }));
        const errors = found.filter(({ severity }) => severity === 'error');
        const warnings = found.filter(({ severity }) => severity === 'warning');
        const data = { files, errors: errors.map(place), warnings: warnings.map(place) };
        const print = () => {
          for (const each of found) context.print(...visibleLines(renderDiagnostic(oneLineEach(each))));
          const inFiles = errors.length === 0 ? count(files.length, 'file') : `${filesOf(errors)} of ${count(files.length, 'file')}`;
          const also = warnings.length === 0 ? '' : ` ${count(warnings.length, 'warning')}.`;
          context.note(`${errors.length === 0 ? 'No errors' : count(errors.length, 'error')} in ${inFiles}.${also}`);
        };
        return context.report(data, print, errors.length === 0 ? EXIT.ok : EXIT.failed);
      }),
    );
};

function place({ file, line, column, code, message, advice }: Diagnostic) {
  return { file, line, column, code, message, advice };
}

function filesOf(errors: readonly Diagnostic[]): number {
  return new Set(errors.map(({ file }) => file)).size;
}

// The name of a file, and what a message quotes from the source, cannot begin a line of their own.
function oneLineEach(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, file: visible(diagnostic.file), message: visible(diagnostic.message), advice: visible(diagnostic.advice) };
}
