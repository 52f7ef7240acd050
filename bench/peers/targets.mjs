// Our performance targets, each computed from the results of one run.

const number = (medians, workload, contestant, name) =>
  medians.find((one) => one.workload === workload && one.contestant === contestant)?.numbers[name];
const times = (n) => `${n.toFixed(2)} ×`;

/** A ratio of two numbers of the run with a lower bound, or an upper one (`most`). */
const ratio = (what, [top, bottom], name, bound, { most = false } = {}) => ({
  what,
  target: `${most ? '≤' : '≥'} ${times(bound)}`,
  evaluate(medians) {
    const [a, b] = [top, bottom].map(([workload, contestant]) => number(medians, workload, contestant, name));
    if (a === undefined || b === undefined) return undefined;
    const value = a / b;
    return { value: times(value), met: most ? value <= bound : value >= bound };
  },
});

/** A number of ours with an upper bound. */
const upperBound = (what, workload, name, most, unit) => ({
  what,
  target: `≤ ${most.toLocaleString('en')} ${unit}`,
  evaluate(medians) {
    const value = number(medians, workload, 'Rhythm', name);
    if (value === undefined) return undefined;
    return { value: `${value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')} ${unit}`, met: value <= most };
  },
});

const ours = (workload) => [workload, 'Rhythm'];
/** Our rate in a workload, compared with another contestant's. */
const rate = (what, workload, contestant, bound, note = '') =>
  ratio(`${what} ÷ ${contestant}${note}`, [ours(workload), [workload, contestant]], 'perSecond', bound);

const TARGETS = [
  rate('tasks drained, 1 process, cold', 'drain1', 'raw limit', 0.7),
  rate('tasks drained, 1 process, cold', 'drain1', 'Graphile Worker', 1.3, ' (keeps no result)'),
  rate('tasks drained, 1 process, warm', 'drain1Warm', 'Graphile Worker', 1.3),
  rate('tasks drained, 2 processes, warm', 'drain2Warm', 'Graphile Worker', 1.2),
  rate('tasks drained, 4 processes, warm', 'drain4Warm', 'Graphile Worker', 1.2),
  rate('tasks drained, 1 process, cold', 'drain1', 'pg-boss', 1.6),
  rate('bulk starts', 'bulk', 'Graphile Worker', 1),
  rate('single starts', 'single', 'BullMQ', 1),
  rate('single starts', 'single', 'Graphile Worker', 10),
  rate('single starts', 'single', 'pg-boss', 10),
  rate('single starts', 'single', 'DBOS', 10),
  rate('workflow steps, 5 each', 'steps5', 'raw limit', 0.5),
  rate('workflow steps, 5 each', 'steps5', 'DBOS', 13),
  rate('workflow steps, 20 each', 'steps20', 'DBOS', 16),
  rate('one workflow alone', 'loop', 'DBOS', 2.5),
  ratio('pickup p50 ÷ raw LISTEN loop', [ours('pickup'), ['pickup', 'raw limit']], 'p50', 1.5, { most: true }),
  ratio('pickup p99 ÷ raw LISTEN loop', [ours('pickup'), ['pickup', 'raw limit']], 'p99', 1, { most: true }),
  ratio('pickup p50 ÷ Graphile Worker', [ours('pickup'), ['pickup', 'Graphile Worker']], 'p50', 1, { most: true }),
  upperBound('WAL over the life of a task', 'drain1', 'walBytes', 950, 'bytes'),
  upperBound('WAL per workflow step, 5 each', 'steps5', 'walBytes', 2_400, 'bytes'),
  upperBound('WAL per workflow step, 20 each', 'steps20', 'walBytes', 850, 'bytes'),
  ratio('drain with 1,000,000 finished tasks ÷ without', [ours('withFinished'), ours('drain1')], 'perSecond', 0.9),
  ratio(
    '100 claim loops ÷ 4 (raw limit)',
    [
      ['contend', 'raw limit'],
      ['contend1', 'raw limit'],
    ],
    'perSecond',
    0.7,
  ),
  ratio('100 engines in 4 processes ÷ 4', [ours('contend'), ours('contend1')], 'perSecond', 0.7),
  upperBound('claim p99 at 10,000 tasks per second', 'paced', 'claimP99', 10, 'ms'),
  upperBound('an idle worker', 'idle', 'queriesPerSecond', 5, 'transactions/s'),
];

/** A table of the targets for which the run has results. */
export function targetTable(medians) {
  const rows = TARGETS.flatMap(({ what, target, evaluate }) => {
    const found = evaluate(medians);
    return found ? [`| ${what} | ${target} | ${found.value} | ${found.met ? 'yes' : '**no**'} |`] : [];
  });
  return ['### Our targets', '', '| what | target | measured | met |', '|---|--:|--:|---|', ...rows].join('\n');
}
