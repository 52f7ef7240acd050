// Runs statements under EXPLAIN (ANALYZE, BUFFERS) and then for real: what their plans read, for specs and benchmarks of large tables.

import { type Runner, type Statement, sql } from '../../libs/store/index.js';

/** What the plan of one statement did. */
export interface ExplainedStatement {
  name: string;
  /** Pages of 8 KiB, from memory or disk. */
  buffers: number;
  ms: number;
  /** Nodes such as `Index Scan executions_pkey`, each once. */
  nodes: string[];
  /** Tables of which all rows were read. */
  scanned: string[];
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

const SAVEPOINT = sql('explained_savepoint', 'SAVEPOINT explained');
const ROLLBACK = sql('explained_rollback', 'ROLLBACK TO SAVEPOINT explained');

/** A runner over an open transaction, and what the statements that it ran have read. */
export function explained(tx: Runner): { runner: Runner; statements: ExplainedStatement[] } {
  const statements: ExplainedStatement[] = [];
  const runner: Runner = {
    async rows<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
      if (!statement.text.startsWith('EXPLAIN') && !/^\s*SET /.test(statement.text)) statements.push(await explain(tx, statement, values));
      return tx.rows<Row>(statement, values);
    },
  };
  return { runner, statements };
}

async function explain(tx: Runner, { name, text }: Statement, values: readonly unknown[]): Promise<ExplainedStatement> {
  await tx.rows(SAVEPOINT);
  const [row] = await tx.rows<{ 'QUERY PLAN': [{ Plan: PlanNode; 'Execution Time': number }] }>(
    sql(`explain_${name}`, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`),
    values,
  );
  await tx.rows(ROLLBACK);
  const [{ Plan: plan, 'Execution Time': ms }] = (row as { 'QUERY PLAN': [{ Plan: PlanNode; 'Execution Time': number }] })['QUERY PLAN'];
  const nodes = nodesOf(plan).filter((node) => node['Actual Loops'] > 0);
  return {
    name: name.replace('rhythm_', ''),
    ms,
    buffers: nodes.reduce((sum, node) => sum + ownBuffers(node), 0),
    nodes: [...new Set(nodes.flatMap((node) => (node['Index Name'] ? [`${node['Node Type']} ${node['Index Name']}`] : [])))],
    scanned: [...new Set(nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? '?'] : [])))],
  };
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

const buffersOf = (node: PlanNode) => node['Shared Hit Blocks'] + node['Shared Read Blocks'];

// A node counts what is below it too. What a CTE writes is run after the rest and counted by none above it.
function ownBuffers(node: PlanNode): number {
  return Math.max(0, buffersOf(node) - (node.Plans ?? []).reduce((sum, below) => sum + buffersOf(below), 0));
}
