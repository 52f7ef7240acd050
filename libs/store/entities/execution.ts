// One run of a task or a workflow: what people look at, and the fence every write is checked against.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What `executions.status` may hold. `running` is not stored: it is read from the claims. */
export type StoredStatus = 'pending' | 'suspended' | 'paused' | 'completed' | 'failed' | 'cancelled';

@Entity('executions')
@Index('executions_created', ['createdAt'])
@Index('executions_workflows', ['targetName', 'createdAt'], { where: `type = 'workflow'` })
// A GIN index, which TypeORM cannot describe in all versions: the migration makes it.
@Index('executions_tags', { synchronize: false })
// Children normally have their parent's id as a prefix; only those with an id of their own need an index to be found.
@Index('executions_own_ids', ['parentId'], { where: `parent_id IS NOT NULL AND NOT starts_with(id, parent_id || ':')` })
export class ExecutionEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'executions_pkey' })
  id!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'executions_pkey' })
  bucket!: number;

  @Column({ type: 'text' })
  type!: 'task' | 'workflow';

  @Column({ name: 'target_name', type: 'text' })
  targetName!: string;

  @Column({ type: 'text', collation: 'C' })
  queue!: string;

  @Column({ type: 'smallint', default: 0 })
  priority!: number;

  @Column({ type: 'text', default: 'pending' })
  status!: StoredStatus;

  @Column({ name: 'parent_id', type: 'text', collation: 'C', nullable: true })
  parentId!: string | null;

  /** The number of the durable call in the parent that waits for this run; null when no call waits for its end. */
  @Column({ name: 'parent_call', type: 'integer', nullable: true })
  parentCall!: number | null;

  /** Content hash of the workflow, pinned at start. */
  @Column({ type: 'text', nullable: true })
  version!: string | null;

  @Column({ type: 'json', nullable: true })
  inputs!: unknown;

  /** The inputs as they were written, kept only when PostgreSQL could not read them (NUL, lone surrogates). */
  @Column({ name: 'inputs_verbatim', type: 'json', nullable: true })
  inputsVerbatim!: unknown;

  /** Of the input, for a run whose id was chosen (by a caller, a key or a schedule): its tombstone keeps it. */
  @Column({ name: 'input_hash', type: 'text', collation: 'C', nullable: true })
  inputHash!: string | null;

  @Column({ type: 'json', nullable: true })
  output!: unknown;

  @Column({ name: 'output_verbatim', type: 'json', nullable: true })
  outputVerbatim!: unknown;

  @Column({ type: 'jsonb', nullable: true })
  error!: unknown;

  /** What this call asked for in addition to the task's declaration: retry, timeouts, idempotency key. */
  @Column({ type: 'jsonb', nullable: true })
  options!: unknown;

  @Column({ type: 'text', array: true, nullable: true })
  tags!: string[] | null;

  @Column({ type: 'bigint' })
  fence!: string;

  /** Failed attempts so far (tasks). Policy only, never a fence. */
  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  /** Consecutive recoveries from dead workers without progress. */
  @Column({ type: 'smallint', default: 0 })
  crashes!: number;

  /** What a task last reported through `heartbeat(progress)`. */
  @Column({ type: 'jsonb', nullable: true })
  progress!: unknown;

  /** Why it does not move although it waits for nothing, e.g. a missing version. */
  @Column({ type: 'text', nullable: true })
  note!: string | null;

  /** The worker that wrote last. */
  @Column({ name: 'worker_id', type: 'text', nullable: true })
  workerId!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'finished_at', type: 'timestamptz', nullable: true })
  finishedAt!: Date | null;

  /** Of a workflow: the highest durable call ever numbered, those of failed turns included; null before its first turn. */
  @Column({ type: 'integer', nullable: true })
  calls!: number | null;

  /** Of a workflow: how many turns it has taken, without one that failed; null before the first. */
  @Column({ type: 'integer', nullable: true })
  turns!: number | null;

  /** The state of its virtual machine between two turns, as JSON text: a cast to json would cost 1.5 µs per step. Null when it is stored outside the row, before the first turn, and after the end. */
  @Column({ type: 'text', nullable: true })
  snapshot!: string | null;

  /** Where a `SnapshotStore` keeps the state. */
  @Column({ name: 'snapshot_ref', type: 'text', nullable: true })
  snapshotRef!: string | null;

  /** The steps that a worker runs without rows of their own, as JSON text; null when there are none. */
  @Column({ type: 'text', nullable: true })
  pending!: string | null;

  /** When the run received its cancellation; from then on it can only end as `cancelled`. */
  @Column({ name: 'cancelled_at', type: 'timestamptz', nullable: true })
  cancelledAt!: Date | null;
}
