// `rhythm bench`: the performance of this database, with the statements alone (the upper limit) or with real worker processes.

import { randomBytes } from 'node:crypto';
import { type BenchmarkRows, readBenchmark, removeBenchmark } from '../../../libs/store/index.js';
import { runBaseline } from '../bench/baseline.js';
import { BENCH_STEPS, runBenchProcess } from '../bench/bench-process.js';
import { type Measured, measure } from '../bench/metrics.js';
import { type BaselineOptions, type BenchFlags, readBaseline, readWorkers, type WorkersOptions } from '../bench/options.js';
import { runWorkers } from '../bench/workers.js';
import { type CliCommand, type CliContext, EXIT } from '../command.js';
import type { CliServices } from '../services.js';
import { renderTable } from '../table.js';
import { UsageError } from '../usage-error.js';

// The mode with which the benchmark starts its own worker processes.
const PROCESS = 'process:';

export const benchCommand: CliCommand = (program, context) => {
  program
    .command('bench')
    .description('Measure throughput and latency on this database, in separate queues. Its rows are removed afterwards.')
    .argument(
      '[mode]',
      '"worker" runs real worker processes; without it the upper limit is measured: claim and complete, without user code',
    )
    .option('--tasks <n>', 'tasks to run; default 10000, with worker 1000')
    .option('--workflows <n>', `workflows to run besides the tasks; with worker, each calls ${BENCH_STEPS} tasks in sequence`, '0')
    .option('--payload-size <bytes>', 'size of each input', '100')
    .option('--duration <time>', 'stop after 30s, 2m, …; what has not ended by then counts as pending')
    .option('--concurrency <n>', 'baseline: executions claimed at the same time; default 1000')
    .option('--batch <n>', 'baseline: executions per claim; default 100')
    .option('--work-delay-us <n>', 'baseline: microseconds between claim and completion; default 0')
    .option('--workers <n>', 'worker: number of processes; default 10')
    .option('--compute-iterations <n>', 'worker: rounds of arithmetic in each task; default 0, for tasks that do nothing')
    .option('--queues <list>', 'worker: queues to spread the work over, separated by commas; each gets the name of the run as a prefix')
    .addHelpText(
      'after',
      '\nJSON data: { mode, options, tasks, workflows }, each of the last two { total, completed, failed, pending, perSecond, overallPerSecond, latencyMs: { p50, p95, p99 } }',
    )
    .addHelpText(
      'after',
      '\nLatency is the time from creation to completion by the clock of the database, including the wait in the queue. The first tenth to complete is left out as warm-up; OVERALL is the rate with it, from the start of the work. If all executions are claimed at once, they also end at once: then only OVERALL is meaningful, and more executions are needed. The baseline fills the queue before it starts; with workers, the work is enqueued while they run. Ctrl-C also removes the rows.\n\nExamples:\n  rhythm bench --tasks 10000 --concurrency 1000\n  rhythm bench worker --workers 4 --tasks 1000 --workflows 100 --json',
    )
    .action(
      context.action((mode: string | undefined, flags: BenchFlags) => {
        if (mode === undefined) return bench('baseline', readBaseline(flags), context);
        if (mode === 'worker') return bench('worker', readWorkers(flags), context);
        if (!mode.startsWith(PROCESS)) {
          throw new UsageError(`There is no mode "${mode}". Use \`rhythm bench\` for the baseline or \`rhythm bench worker\`.`);
        }
        const { queues, computeIterations } = readWorkers(flags);
        return runBenchProcess(mode.slice(PROCESS.length), queues, computeIterations, context);
      }),
    );
};

type Bench = ['baseline', BaselineOptions] | ['worker', WorkersOptions];

function bench(...[mode, options, context]: [...Bench, CliContext]): Promise<number> {
  // Removing the rows may take a while; a second Ctrl-C ends the process without it.
  context.graceMs = Number.POSITIVE_INFINITY;
  return context.withServices(async (services) => {
    const name = `bench-${randomBytes(6).toString('hex')}`;
    const queues = mode === 'worker' ? options.queues.map((queue) => `${name}-${queue}`) : [name];
    const rows: BenchmarkRows = { name, queues, firstId: '', lastId: '' };
    try {
      const startedAt =
        mode === 'worker' ? await runWorkers(services, rows, options, context) : await runBaseline(services.store, rows, options, context);
      if (context.interrupted.aborted) {
        context.note('Interrupted: there is no result. The rows of the benchmark are removed.');
        return EXIT.interrupted;
      }
      return await reportResults(services, rows, { mode, options, startedAt }, context);
    } finally {
      await removeBenchmark(services.store.db, rows);
    }
  });
}

async function reportResults(
  { store }: CliServices,
  rows: BenchmarkRows,
  { mode, options, startedAt }: { mode: string; options: BaselineOptions | WorkersOptions; startedAt: number | undefined },
  context: CliContext,
): Promise<number> {
  const times = await readBenchmark(store.db, rows);
  const from = startedAt ?? times.reduce((first, { createdAt }) => Math.min(first, createdAt), Number.POSITIVE_INFINITY);
  const tasks = measure(times, 'task', from);
  const workflows = measure(times, 'workflow', from);
  const failed = tasks.failed + workflows.failed;
  return context.report({ mode, options, tasks, workflows }, () => render(tasks, workflows, context), failed > 0 ? EXIT.failed : EXIT.ok);
}

function render(tasks: Measured, workflows: Measured, { print, terminal }: CliContext): void {
  const kinds = [
    { name: 'tasks', ...tasks },
    { name: 'workflows', ...workflows },
  ].filter(({ total }) => total > 0);
  const number = (n: number | null | undefined) => (n === null || n === undefined ? '-' : Math.round(n).toLocaleString('en-US'));
  const ms = (n: number | undefined) => (n === undefined ? '-' : `${n.toFixed(1)} ms`);
  const table = renderTable(
    kinds,
    [
      { title: '', value: ({ name }) => name },
      { title: 'PER SECOND', value: ({ perSecond }) => number(perSecond) },
      { title: 'OVERALL', value: ({ overallPerSecond }) => number(overallPerSecond) },
      { title: 'P50', value: ({ latencyMs }) => ms(latencyMs?.p50) },
      { title: 'P95', value: ({ latencyMs }) => ms(latencyMs?.p95) },
      { title: 'P99', value: ({ latencyMs }) => ms(latencyMs?.p99) },
      { title: 'COMPLETED', value: ({ completed }) => number(completed) },
      {
        title: 'FAILED',
        value: (kind) => number(kind.failed),
        paint: (text, kind) => (kind.failed > 0 ? terminal.colours.red(text) : text),
      },
      { title: 'PENDING', value: ({ pending }) => number(pending) },
    ],
    terminal,
  );
  print(table);
}
