// A compiled program of a version of a workflow: one for each compiler that made another of the same text.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('workflow_programs')
export class WorkflowProgramEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'workflow_programs_pkey' })
  name!: string;

  /** SHA-256 of the source. */
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'workflow_programs_pkey' })
  version!: string;

  /** A snapshot names the program that it belongs to, so that a run never depends on another compiler. */
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'workflow_programs_pkey' })
  fingerprint!: string;

  /** As `saveProgram` wrote it. */
  @Column({ type: 'text' })
  program!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  createdAt!: Date;
}
