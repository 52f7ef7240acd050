// Writes what was measured into docs/benchmarks.md, between its markers, with plots beside it.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { barTable } from './bars.mjs';
import { barChart } from './plot.mjs';
import { mediansOf } from './results.mjs';
import { SERVER_SETTINGS } from './venue.mjs';
import { WORKLOADS } from './workloads.mjs';

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url);
const PLOTS = new URL('../../docs/benchmarks/', import.meta.url);
const RESULTS = new URL('results.json', PLOTS);
const ORDER = Object.keys(WORKLOADS);
const BEGIN = '<!-- results: written by npm run bench:peers -- --write -->';
const END = '<!-- /results -->';

/** What a number is called in a table, and how it is written. */
const NUMBERS = {
  perSecond: ['per second', (n) => Math.round(n).toLocaleString('en')],
  p50: ['p50 ms', (n) => n.toFixed(2)],
  p99: ['p99 ms', (n) => n.toFixed(2)],
  lateSeconds: ['last one late by, s', (n) => n.toFixed(2)],
  queriesPerSecond: ['transactions per second', (n) => n.toFixed(1)],
  walBytes: ['WAL bytes each', (n) => Math.round(n).toLocaleString('en')],
  serverMicros: ['server CPU µs each', (n) => n.toFixed(n < 100 ? 1 : 0)],
  nodeMicros: ['Node CPU µs each', (n) => n.toFixed(n < 100 ? 1 : 0)],
  claimP99: ['claim p99 ms', (n) => n.toFixed(1)],
  keptRows: ['rows kept', (n) => n.toLocaleString('en')],
  keptBytes: ['bytes kept', (n) => n.toLocaleString('en')],
};

const CHARTS = [
  ['drain1', 'perSecond', 'Noop tasks drained per second, one worker process'],
  ['single', 'perSecond', 'Single enqueue calls per second, 50 in flight'],
  ['steps5', 'perSecond', 'Workflow steps per second, 5 sequential steps, 500 runs in flight'],
  ['pickup', 'p50', 'Pickup on an idle worker, median milliseconds (less is better)'],
  ['drain1', 'walBytes', 'WAL bytes over the life of a task (less is better)'],
];

export function writeDocument({ results: measured, contestants, versions, rounds, quick }) {
  const results = [...earlier(measured), ...measured];
  const medians = mediansOf(results).sort((a, b) => ORDER.indexOf(a.workload) - ORDER.indexOf(b.workload));
  mkdirSync(PLOTS, { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify({ versions, results }, null, 1)}\n`);
  const plots = CHARTS.map(([workload, number, title]) => {
    const bars = medians
      .filter((one) => one.workload === workload && one.numbers[number] !== undefined)
      .map(({ contestant, numbers }) => ({ label: contestant, value: numbers[number], text: NUMBERS[number][1](numbers[number]) }));
    const file = `${workload}-${number}.svg`;
    writeFileSync(new URL(file, PLOTS), barChart(title, bars));
    return `![${title}](benchmarks/${file})`;
  });
  const tables = [...new Set(medians.map(({ workload }) => workload))].map((name) => tableOf(name, medians, contestants));
  const [before, rest] = readFileSync(PAGE, 'utf8').split(BEGIN);
  const [, after] = rest.split(END);
  const made = [conditions({ contestants, versions, rounds, quick }), barTable(medians), ...plots, ...tables].join('\n\n');
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${made}\n\n${END}${after}`);
}

// A run of some workloads renews those, and leaves what an earlier run says of the others.
function earlier(measured) {
  if (!existsSync(RESULTS)) return [];
  const renewed = new Set(measured.map(({ workload, contestant }) => `${workload}/${contestant}`));
  return JSON.parse(readFileSync(RESULTS, 'utf8')).results.filter(
    ({ workload, contestant }) => workload in WORKLOADS && !renewed.has(`${workload}/${contestant}`),
  );
}

function conditions({ contestants, versions, rounds, quick }) {
  const settings = Object.entries(SERVER_SETTINGS).map(([name, value]) => `\`${name} = ${value}\``);
  const machine = `${cpus().length} cores (${cpus()[0].model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const lines = [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}, PostgreSQL ${versions.postgresql} with fsync and ${settings.join(', ')}${
      versions.redis ? `, Redis ${versions.redis}` : ''
    }, everybody on Node ${versions.node}. Medians of ${rounds} interleaved rounds${quick ? ' (quick)' : ''}; each round on a fresh database.`,
    '',
    '| contestant | version | settings |',
    '|---|---|---|',
    ...contestants.map(({ name, version, settings: how }) => `| ${name} | ${version ?? ''} | ${how} |`),
  ];
  return lines.join('\n');
}

function tableOf(name, medians, contestants) {
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
    `| contestant | ${columns.map((column) => NUMBERS[column][0]).join(' | ')} | ours beside it |`,
    `|---|${columns.map(() => '--:').join('|')}|--:|`,
    ...rows.map((row) => {
      const cells = columns.map((column) => (row.numbers[column] === undefined ? '' : NUMBERS[column][1](row.numbers[column])));
      return `| ${row.contestant} | ${cells.join(' | ')} | ${ratio(row)} |`;
    }),
  ].join('\n');
}
