// Writes the results into docs/benchmarks.md, between its markers, and the charts into docs/benchmarks.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { barChart } from './bar-chart.mjs';
import { mediansOf } from './results.mjs';
import { SERVER_SETTINGS } from './servers.mjs';
import { targetTable } from './targets.mjs';
import { WORKLOADS } from './workloads.mjs';

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url);
const FOLDER = new URL('../../docs/benchmarks/', import.meta.url);
const RESULTS = new URL('results.json', FOLDER);
const ORDER = Object.keys(WORKLOADS);
const BEGIN = '<!-- results: written by npm run bench:peers -- --write -->';
const END = '<!-- /results -->';

/** The title and the format of each number in a table. */
const NUMBERS = {
  perSecond: ['per second', (n) => Math.round(n).toLocaleString('en')],
  p50: ['p50 ms', (n) => n.toFixed(2)],
  p99: ['p99 ms', (n) => n.toFixed(2)],
  lateSeconds: ['delay of the last one, s', (n) => n.toFixed(2)],
  queriesPerSecond: ['transactions per second', (n) => n.toFixed(1)],
  walBytes: ['WAL bytes each', (n) => Math.round(n).toLocaleString('en')],
  serverMicros: ['server CPU µs each', (n) => n.toFixed(n < 100 ? 1 : 0)],
  nodeMicros: ['Node CPU µs each', (n) => n.toFixed(n < 100 ? 1 : 0)],
  claimP99: ['claim p99 ms', (n) => n.toFixed(1)],
  keptRows: ['rows kept', (n) => n.toLocaleString('en')],
  keptBytes: ['bytes kept', (n) => n.toLocaleString('en')],
  totalMB: ['tables and indexes, MB', (n) => n.toFixed(0)],
  indexMB: ['indexes, MB', (n) => n.toFixed(0)],
  hotPercent: ['HOT updates of executions, %', (n) => n.toFixed(1)],
  hotPercentAll: ['HOT updates of all tables, %', (n) => n.toFixed(1)],
};

const CHARTS = [
  ['drain1', 'perSecond', 'Noop tasks drained per second, one worker process, cold'],
  ['single', 'perSecond', 'Single enqueue calls per second, 50 in flight'],
  ['steps5', 'perSecond', 'Workflow steps per second, 5 sequential steps, 500 runs in flight'],
  ['pickup', 'p50', 'Pickup on an idle worker, median milliseconds (less is better)'],
  ['drain1', 'walBytes', 'WAL bytes over the life of a task (less is better)'],
];

export function writeBenchmarksPage({ results: measured, contestants, versions, rounds, quick }) {
  const today = new Date().toISOString().slice(0, 10);
  const results = [...earlier(measured), ...measured.map((result) => ({ ...result, on: today }))];
  const medians = mediansOf(results).sort((a, b) => ORDER.indexOf(a.workload) - ORDER.indexOf(b.workload));
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify({ versions, results }, null, 1)}\n`);
  const charts = CHARTS.map(([workload, number, title]) => {
    const bars = medians
      .filter((one) => one.workload === workload && one.numbers[number] !== undefined)
      .map(({ contestant, numbers }) => ({ label: contestant, value: numbers[number], text: NUMBERS[number][1](numbers[number]) }));
    const file = `${workload}-${number}.svg`;
    writeFileSync(new URL(file, FOLDER), barChart(title, bars));
    return `![${title}](benchmarks/${file})`;
  });
  const tables = [...new Set(medians.map(({ workload }) => workload))].map((name) =>
    tableOf(name, medians, contestants, datesOf(results, today)),
  );
  const [before, rest] = readFileSync(PAGE, 'utf8').split(BEGIN);
  const [, after] = rest.split(END);
  const generated = [conditions({ contestants, versions, rounds, quick }), targetTable(medians), ...charts, ...tables].join('\n\n');
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${generated}\n\n${END}${after}`);
}

// The results of an earlier run, without those that this run replaces.
function earlier(measured) {
  if (!existsSync(RESULTS)) return [];
  const replaced = new Set(measured.map(({ workload, contestant }) => `${workload}/${contestant}`));
  return JSON.parse(readFileSync(RESULTS, 'utf8')).results.filter(
    ({ workload, contestant }) => workload in WORKLOADS && !replaced.has(`${workload}/${contestant}`),
  );
}

// When each row that is not of today was measured.
function datesOf(results, today) {
  const dates = new Map(results.map(({ workload, contestant, on }) => [`${workload}/${contestant}`, on]));
  return (workload, contestant) => {
    const on = dates.get(`${workload}/${contestant}`);
    return on === today ? '' : ` (${on})`;
  };
}

function conditions({ contestants, versions, rounds, quick }) {
  const settings = Object.entries(SERVER_SETTINGS).map(([name, value]) => `\`${name} = ${value}\``);
  const machine = `${cpus().length} cores (${cpus()[0].model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const lines = [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}, PostgreSQL ${versions.postgresql} with fsync and ${settings.join(', ')}${
      versions.redis ? `, Redis ${versions.redis}` : ''
    }, all contestants on Node ${versions.node}. Medians of ${rounds} interleaved rounds${quick ? ' (quick)' : ''}; each round on a fresh database. A row with a date is of an earlier run: the ratios that need it compare two runs.`,
    '',
    '| contestant | version | settings |',
    '|---|---|---|',
    ...contestants.map(({ name, version, settings: used }) => `| ${name} | ${version ?? ''} | ${used} |`),
  ];
  return lines.join('\n');
}

function tableOf(name, medians, contestants, dateOf) {
  const rows = contestants.flatMap((contestant) => medians.filter((one) => one.workload === name && one.contestant === contestant.name));
  const ours = rows.find(({ contestant }) => contestant === 'Rhythm')?.numbers;
  const columns = Object.keys(NUMBERS).filter((column) => rows.some(({ numbers }) => numbers[column] !== undefined));
  const lead = columns.find((column) => ['perSecond', 'p50'].includes(column));
  const ratio = ({ numbers }) => {
    if (!lead || !ours?.[lead] || !numbers[lead]) return '';
    return `${(ours[lead] / numbers[lead]).toFixed(2)} ×`;
  };
  return [
    `### ${WORKLOADS[name].title[0].toUpperCase()}${WORKLOADS[name].title.slice(1)}`,
    '',
    `| contestant | ${columns.map((column) => NUMBERS[column][0]).join(' | ')} | Rhythm ÷ this |`,
    `|---|${columns.map(() => '--:').join('|')}|--:|`,
    ...rows.map((row) => {
      const cells = columns.map((column) => (row.numbers[column] === undefined ? '' : NUMBERS[column][1](row.numbers[column])));
      return `| ${row.contestant}${dateOf(name, row.contestant)} | ${cells.join(' | ')} | ${ratio(row)} |`;
    }),
  ].join('\n');
}
