// The rows that belong to an execution: every table that has some, and their removal as parts of a statement.

/** Every table whose rows belong to one execution, besides `executions` itself and the queue, whose rows are deleted by the claim. */
export const OWNED_TABLES = [
  'steps',
  'snapshots',
  'inbox',
  'signals',
  'scheduled_queue',
  'resume_groups',
  'marked_executions',
  'history',
  'completion_tokens',
  'waiting',
] as const;
export type OwnedTable = (typeof OWNED_TABLES)[number];

/** The tables with what a run needs to go on, without those that people read afterwards. */
export const STATE_TABLES = ['inbox', 'signals', 'scheduled_queue', 'resume_groups'] as const;

/** CTEs that delete the rows of the executions in `source` (with columns `id` and `bucket`) from these tables. */
export function deleteOwned(source: string, tables: readonly OwnedTable[] = OWNED_TABLES): string {
  return tables
    .map((table) => `no_${table} AS (DELETE FROM rhythm.${table} t USING ${source} d WHERE t.execution_id = d.id AND t.bucket = d.bucket)`)
    .join(', ');
}
