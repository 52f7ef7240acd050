// One worker process of `rhythm bench worker`: a Nest application with the tasks and the workflow of the benchmark.

import { once } from 'node:events';
import { type DynamicModule, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setProcessFlags } from '../../config/flags.js';
import { RhythmModule } from '../../rhythm.module.js';
import { Task } from '../../tasks/task-decorator.js';
import { type CliContext, EXIT } from '../command.js';
import { StderrLogger } from '../stderr-logger.js';

/** The tasks of the benchmark. */
export const BENCH_TASKS = { noop: 'bench-noop', compute: 'bench-compute' } as const;
/** The number of sequential steps of its workflow. */
export const BENCH_STEPS = 5;

// The most that a worker opens: ten workers and this command fit a stock server with 100 connections.
const CONNECTIONS = 10;

/** Runs until the process that started it closes its stdin or ends. */
export async function runBenchProcess(name: string, queues: string[], computeIterations: number, context: CliContext): Promise<number> {
  setProcessFlags({
    options: {
      role: 'worker',
      autoMigrate: false,
      database: { maxConnections: CONNECTIONS, minConnections: 0 },
      worker: { id: name, queues },
    },
    configPath: context.flags.config?.file,
  });
  // Ctrl-C reaches the whole process group; the parent process decides when this one stops.
  context.graceMs = Number.POSITIVE_INFINITY;
  context.runsUntilStopped = true;
  const closed = once(process.stdin.resume(), 'end');
  const app = await NestFactory.createApplicationContext(benchModule(name, queues[0]!, computeIterations), {
    abortOnError: false,
    logger: new StderrLogger({ logLevels: ['warn', 'error', 'fatal'], colors: false }),
  });
  try {
    context.report({ pid: process.pid, ready: true }, () => context.note('ready'));
    await closed;
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

function benchModule(name: string, queue: string, computeIterations: number): DynamicModule {
  const task = computeIterations > 0 ? BENCH_TASKS.compute : BENCH_TASKS.noop;
  const source = `let last = Inputs;\nfor (let n = 0; n < ${BENCH_STEPS}; n++) last = await Task.run('${task}', Inputs);\nreturn last;\n`;

  @Injectable()
  class BenchTasks {
    @Task(BENCH_TASKS.noop, { queue })
    noop(): null {
      return null;
    }

    @Task(BENCH_TASKS.compute, { queue })
    compute(): number {
      // The compiler cannot optimise this away, because the result is stored.
      let mixed = 1;
      for (let n = 0; n < computeIterations; n++) mixed = (Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) + n) | 0;
      return mixed;
    }
  }

  return { module: BenchModule, imports: [RhythmModule.forRoot({ flows: [{ name, source }] })], providers: [BenchTasks] };
}

class BenchModule {}
