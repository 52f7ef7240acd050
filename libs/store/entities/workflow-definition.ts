// A version of a workflow: its source and what limits its runs, by content hash.

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

  /**
   * What processes with this version have declared: each allow-list, with `isolate` where they asked for it. What is in here already can
   * only narrow `allow` and set `isolate`.
   */
  @Column({ name: 'allow_seen', type: 'jsonb' })
  allowSeen!: Record<string, string[] | boolean>[];

  /** Its turns run in a process of their own. */
  @Column({ type: 'boolean' })
  isolate!: boolean;

  /** The version with the highest number is current. Raised when a hash is first seen and by `activate`. */
  @Column({ type: 'bigint' })
  activation!: string;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  createdAt!: Date;
}
