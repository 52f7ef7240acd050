// `rhythm doctor`: checks for common problems and suggests what to do; with --config, shows where each setting comes from.

import type { SettingReport } from '../../config/load-settings.js';
import { maskUrl } from '../../config/mask-url.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import { type Finding, runChecks } from '../doctor-checks.js';
import { count } from '../format.js';
import { line, type Printable } from '../output.js';
import { refuseNewEmbedded } from '../services.js';
import { renderTable } from '../table.js';

export const doctorCommand: CliCommand = (program, context) => {
  program
    .command('doctor')
    .description('Check the database, the schema, the clock, the workers and the queues, and suggest what to do.')
    .option('--config', 'show every setting, its value and where it comes from, without connecting to anything')
    .addHelpText(
      'after',
      '\nJSON data: { findings: [{ check, state: ok | warning | broken, found, advice? }] }, with --config { settings: [{ path, variable, value, source }] }',
    )
    .addHelpText(
      'after',
      '\nThe exit code is 1 if something is broken, 3 if the database cannot be reached, and 0 if there are only warnings.\n\nExamples:\n  rhythm doctor\n  rhythm doctor --config\n  rhythm doctor --json',
    )
    .action(context.action(() => (context.flags.config?.bare ? showSettings(context) : showFindings(context))));
};

function showSettings(context: CliContext): number {
  const { report } = context.settings({}, { withoutDatabase: true });
  return context.report({ settings: report }, () =>
    context.print(
      renderTable<SettingReport>(
        report,
        [
          { title: 'SETTING', value: ({ path }) => path },
          { title: 'VALUE', value: ({ value }) => value, min: 10 },
          {
            title: 'FROM',
            value: ({ source }) => source,
            min: 10,
            paint: (text, { source }) => (source === 'default' ? context.terminal.colours.dim(text) : text),
          },
        ],
        context.terminal,
      ),
    ),
  );
}

async function showFindings(context: CliContext): Promise<number> {
  const { settings } = context.settings();
  refuseNewEmbedded(settings);
  const findings = await runChecks(settings);
  const broken = findings.filter(({ state }) => state === 'broken').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  const print = () => {
    context.print(`Database ${maskUrl(settings.database.url ?? '')}, schema "${settings.database.schema}"`, '');
    for (const finding of findings) context.print(...linesOf(finding, context));
    context.print('');
    if (broken + warnings === 0) context.print('No problems found.');
    else context.print(`${count(broken, 'problem')}, ${count(warnings, 'warning')}.`);
  };
  const code = findings.some(({ unreachable }) => unreachable) ? EXIT.unreachable : broken > 0 ? EXIT.failed : EXIT.ok;
  return context.report({ findings: findings.map(({ unreachable: _, ...finding }) => finding) }, print, code);
}

function linesOf({ state, check, found, advice }: Finding, { terminal: { colours } }: CliContext): Printable[] {
  const mark = { ok: colours.green('ok      '), warning: colours.yellow('warning '), broken: colours.red('broken  ') }[state];
  return [line`${mark}${check}: ${found}`, ...(advice ? [`        ${advice}`] : [])];
}
