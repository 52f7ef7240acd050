// The bars of the design, each computed from the same run.

const number = (medians, workload, contestant, name) =>
  medians.find((one) => one.workload === workload && one.contestant === contestant)?.numbers[name];
const times = (n) => `${n.toFixed(2)} ×`;

/** A ratio of two numbers of the run that must not be below (or above) a bound. */
const ratio = (what, [top, bottom], name, bound, { most = false } = {}) => ({
  what,
  bar: `${most ? '≤' : '≥'} ${times(bound)}`,
  judge(medians) {
    const [a, b] = [top, bottom].map(([workload, contestant]) => number(medians, workload, contestant, name));
    if (a === undefined || b === undefined) return undefined;
    const value = a / b;
    return { value: times(value), met: most ? value <= bound : value >= bound };
  },
});

const bound = (what, workload, name, most, unit) => ({
  what,
  bar: `≤ ${most.toLocaleString('en')} ${unit}`,
  judge(medians) {
    const value = number(medians, workload, 'Rhythm', name);
    if (value === undefined) return undefined;
    return { value: `${value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')} ${unit}`, met: value <= most };
  },
});

const us = (workload) => [workload, 'Rhythm'];
const BARS = [
  ratio('tasks drained beside the raw limit', [us('drain1'), ['drain1', 'raw limit']], 'perSecond', 0.7),
  ratio('tasks drained beside Graphile Worker (keeps no result)', [us('drain1'), ['drain1', 'Graphile Worker']], 'perSecond', 1),
  ratio('tasks drained beside pg-boss', [us('drain1'), ['drain1', 'pg-boss']], 'perSecond', 1.6),
  ratio('single starts beside Graphile Worker', [us('single'), ['single', 'Graphile Worker']], 'perSecond', 10),
  ratio('workflow steps beside the raw limit', [us('steps5'), ['steps5', 'raw limit']], 'perSecond', 0.5),
  ratio('workflow steps beside DBOS', [us('steps5'), ['steps5', 'DBOS']], 'perSecond', 15),
  ratio('one workflow alone beside DBOS', [us('loop'), ['loop', 'DBOS']], 'perSecond', 2),
  ratio('pickup p50 beside a raw LISTEN loop', [us('pickup'), ['pickup', 'raw limit']], 'p50', 1.5, { most: true }),
  ratio('pickup p99 beside a raw LISTEN loop', [us('pickup'), ['pickup', 'raw limit']], 'p99', 2, { most: true }),
  ratio('pickup p50 beside Graphile Worker', [us('pickup'), ['pickup', 'Graphile Worker']], 'p50', 1, { most: true }),
  bound('WAL over the life of a task', 'drain1', 'walBytes', 1_000, 'bytes'),
  bound('WAL per workflow step', 'steps5', 'walBytes', 2_400, 'bytes'),
  ratio('drain beside 1,000,000 finished', [us('besideFinished'), us('drain1')], 'perSecond', 0.9),
  ratio(
    '100 claim loops beside 4 (raw limit)',
    [
      ['contend', 'raw limit'],
      ['contend1', 'raw limit'],
    ],
    'perSecond',
    0.7,
  ),
  ratio('100 engines in 4 processes beside 4', [us('contend'), us('contend1')], 'perSecond', 0.7),
  bound('claim p99 at 10,000 tasks per second', 'paced', 'claimP99', 10, 'ms'),
  bound('an idle worker', 'idle', 'queriesPerSecond', 5, 'transactions/s'),
];

/** The bars that this run can judge, as a table. */
export function barTable(medians) {
  const rows = BARS.flatMap(({ what, bar, judge }) => {
    const found = judge(medians);
    return found ? [`| ${what} | ${bar} | ${found.value} | ${found.met ? 'yes' : '**no**'} |`] : [];
  });
  return ['### The bars we set ourselves', '', '| what | bar | measured | met |', '|---|--:|--:|---|', ...rows].join('\n');
}
