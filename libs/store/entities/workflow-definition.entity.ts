// A version of a workflow: its text and its compiled program, by content hash.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('workflow_definitions')
export class WorkflowDefinitionEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'workflow_definitions_pkey' })
  name!: string;

  /** SHA-256 of the source. */
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'workflow_definitions_pkey' })
  version!: string;

  @Column({ type: 'text' })
  source!: string;

  /** The file it came from, for messages. */
  @Column({ type: 'text', nullable: true })
  file!: string | null;

  /** The compiled program as `saveProgram` wrote it, so that an old run never depends on a newer compiler. */
  @Column({ type: 'text' })
  program!: string;

  /** The version with the highest number is current. Raised when a hash is first seen and by `activate`. */
  @Column({ type: 'bigint' })
  activation!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;
}
