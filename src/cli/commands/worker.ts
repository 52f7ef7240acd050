// `rhythm worker`: runs the application as a worker, without its HTTP server.

import { once } from 'node:events';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setProcessFlags } from '../../config/flags.js';
import type { SettingOptions } from '../../config/schema.js';
import { RHYTHM_SETTINGS } from '../../module-options.js';
import { type CliCommand, EXIT } from '../command.js';
import { loadRootModule } from '../load-root-module.js';
import { readInteger } from '../read-number.js';
import { StderrLogger } from '../stderr-logger.js';
import { UsageError } from '../usage-error.js';

interface WorkerFlags {
  module?: string;
  queues?: string;
  concurrency?: string;
}

export const workerCommand: CliCommand = (program, context) => {
  program
    .command('worker')
    .description('Run your application as a worker: its tasks and workflows, without its HTTP server.')
    .argument('<file>', 'the built JavaScript of your root module, e.g. dist/app.module.js')
    .option('--module <name>', 'the export to use; default: the default export, the only module, or AppModule')
    .option('--queues <list>', 'the queues to serve, separated by commas')
    .option('--concurrency <n>', 'how many tasks may run at the same time')
    .addHelpText('after', '\nJSON data: { pid, ready } once, when it is ready')
    .addHelpText(
      'after',
      '\nThe flags override the options of RhythmModule.forRoot(). After Ctrl-C or SIGTERM, running tasks may finish within worker.shutdownGrace.\n\nBuild TypeScript first: no version of Node can run decorators without a build.\n\nExamples:\n  rhythm worker dist/app.module.js\n  rhythm worker dist/app.module.js --queues mail,reports --concurrency 10',
    )
    .action(
      context.action(async (file: string, flags: WorkerFlags) => {
        const { databaseUrl, config } = context.flags;
        setProcessFlags({ options: optionsOf(flags, databaseUrl), configPath: config?.file });
        const root = await loadRootModule(file, flags.module);
        const app = await NestFactory.createApplicationContext(root as never, {
          abortOnError: false,
          logger: new StderrLogger({ colors: context.terminal.colours.isColorSupported }),
        });
        // The engine has its own grace period; a second Ctrl-C ends the process at once.
        context.graceMs = Number.POSITIVE_INFINITY;
        context.runsUntilStopped = true;
        try {
          if (!hasRhythm(app)) throw new UsageError(`${file} does not import RhythmModule.forRoot(): there is nothing to run.`);
          context.report({ pid: process.pid, ready: true }, () => context.note(`Worker ready, pid ${process.pid}. Ctrl-C stops it.`));
          if (!context.interrupted.aborted) await once(context.interrupted, 'abort');
          return EXIT.ok;
        } finally {
          await app.close();
        }
      }),
    );
};

function optionsOf({ queues, concurrency }: WorkerFlags, databaseUrl: string | undefined): SettingOptions {
  return {
    role: 'worker',
    ...(databaseUrl === undefined ? {} : { database: { url: databaseUrl } }),
    worker: {
      ...(queues === undefined ? {} : { queues: queues.split(',').map((queue) => queue.trim()) }),
      ...(concurrency === undefined ? {} : { concurrency: readInteger(concurrency, '--concurrency', 1, 100_000) }),
    },
  };
}

// By token, not by class: the application may have loaded another copy of this package.
function hasRhythm(app: INestApplicationContext): boolean {
  try {
    return app.get(RHYTHM_SETTINGS, { strict: false }) !== undefined;
  } catch {
    return false;
  }
}
