// The state of a workflow's virtual machine between two turns.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('workflow_execution_context')
export class WorkflowExecutionContextEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'workflow_execution_context_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'workflow_execution_context_pkey' })
  bucket!: number;

  /** `json`, not `jsonb`: verbatim and still readable in psql. Null when the state is stored outside the row, or before the first turn. */
  @Column({ type: 'json', nullable: true })
  snapshot!: unknown;

  /** Where a `SnapshotStore` keeps the state. */
  @Column({ name: 'snapshot_ref', type: 'text', nullable: true })
  snapshotRef!: string | null;

  /** The highest durable call ever numbered, those of failed turns included. */
  @Column({ type: 'integer', default: 0 })
  calls!: number;
}
