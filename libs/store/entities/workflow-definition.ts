// A version of a workflow: its source and its allow-list, by content hash.

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

  /** The names that its runs may use, by kind; a kind that is absent allows every name. */
  @Column({ type: 'jsonb' })
  allow!: Record<string, string[]>;

  /** Every allow-list that a process with this version has declared. One that is in here already can only narrow `allow`. */
  @Column({ name: 'allow_seen', type: 'jsonb' })
  allowSeen!: Record<string, string[]>[];

  /** The version with the highest number is current. Raised when a hash is first seen and by `activate`. */
  @Column({ type: 'bigint' })
  activation!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  createdAt!: Date;
}
