// `rhythm migrate`: brings the schema of the database to the version of this package, or undoes a migration.

import { startEmbedded } from '../../../libs/embedded/index.js';
import {
  createDataSource,
  migrate,
  migrateDown,
  pendingMigrations,
  planMigrations,
  SCHEMA_VERSION,
  schemaVersion,
} from '../../../libs/store/index.js';
import { maskUrl } from '../../config/mask-url.js';
import { explainRefusal } from '../../database/refused-boot.js';
import { DatabaseUnreachableError, isConnectionFailure } from '../../database/unreachable.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import { visibleLines } from '../output.js';
import { UsageError } from '../usage-error.js';

interface MigrateOptions {
  down?: boolean;
  status?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

type Source = ReturnType<typeof createDataSource>;

export const migrateCommand: CliCommand = (program, context) => {
  program
    .command('migrate')
    .description('Bring the schema of the database up to date.')
    .option('--down', 'undo the newest migration; asks first, because its data is lost')
    .option('--status', 'only show which migrations are missing; exit code 1 if any is')
    .option('--dry-run', 'print the SQL that would run, without running it')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nJSON data: { schema, version, needed, applied, undone, pending }, with --dry-run { migrations: [{ name, statements }] }',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  rhythm migrate\n  rhythm migrate --status\n  rhythm migrate --dry-run > schema.sql\n  rhythm --database-url postgres://localhost/app migrate',
    )
    .action(
      context.action((options: MigrateOptions) => {
        if (options.status && (options.down || options.dryRun))
          throw new UsageError('--status cannot be combined with --down or --dry-run.');
        return onDatabase(context, (source, url, schema) => {
          if (options.dryRun) return dryRun(context, source, options.down === true);
          return change(context, source, url, schema, options);
        });
      }),
    );
};

async function onDatabase(
  context: CliContext,
  work: (source: Source, url: string, schema: string) => Promise<number | undefined>,
): Promise<number | undefined> {
  const { database } = context.settings().settings;
  const embedded = database.url === 'embedded' ? await startEmbedded({ dataDir: database.embeddedDir, durable: true }) : undefined;
  const url = embedded?.url ?? database.listenUrl ?? (database.url as string);
  const source = createDataSource({ url, schema: database.schema, applicationName: 'rhythm migrate', connectTimeoutMs: 5_000 });
  try {
    await source.initialize();
    return await work(source, url, database.schema);
  } catch (error) {
    throw isConnectionFailure(error) ? new DatabaseUnreachableError(url, error) : explainRefusal(error, database.schema);
  } finally {
    if (source.isInitialized) await source.destroy();
    await embedded?.stop();
  }
}

async function dryRun(context: CliContext, source: Source, down: boolean): Promise<number> {
  const plan = await planMigrations(source, down ? 'down' : 'up');
  return context.report({ migrations: plan }, () => {
    for (const { name, statements } of plan) {
      context.print(`-- ${name}`);
      for (const statement of statements) context.print(...visibleLines(`${statement};`), '');
    }
    if (plan.length === 0) context.note('Nothing to do.');
  });
}

async function change(context: CliContext, source: Source, url: string, schema: string, options: MigrateOptions): Promise<number> {
  const before = await pendingMigrations(source);
  const [undone] = options.down ? await planMigrations(source, 'down') : [];
  if (undone) {
    const question = `Undo ${undone.name} in schema "${schema}" at ${maskUrl(url)}? The data in its tables is lost.`;
    if (!(await context.confirm(question, options.yes))) return EXIT.failed;
    await migrateDown(source);
  } else if (!options.status && !options.down) await migrate(source);
  const pending = await pendingMigrations(source);
  const version = await schemaVersion(source);
  const applied = before.filter((name) => !pending.includes(name));
  const data = { schema, version, needed: SCHEMA_VERSION, applied, undone: undone ? [undone.name] : [], pending };
  const print = () => {
    for (const name of applied) context.print(`applied  ${name}`);
    for (const name of data.undone) context.print(`undone   ${name}`);
    if (options.status) for (const name of pending) context.print(`pending  ${name}`);
    context.note(`Schema "${schema}" at ${maskUrl(url)} is at version ${version}; this package needs ${SCHEMA_VERSION}.`);
  };
  return context.report(data, print, options.status && pending.length > 0 ? EXIT.failed : EXIT.ok);
}
