// What is left of a removed run whose id was chosen: a start of the same id finds it instead of running again.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('tombstones')
@Index('tombstones_removed', ['removedAt'])
@Index('tombstones_parent', ['parentId'], { where: 'parent_id IS NOT NULL' })
export class TombstoneEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'tombstones_pkey' })
  id!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'tombstones_pkey' })
  bucket!: number;

  @Column({ name: 'removed_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  removedAt!: Date;

  @Column({ type: 'text' })
  type!: 'task' | 'workflow';

  @Column({ name: 'target_name', type: 'text' })
  targetName!: string;

  /** As in `executions`. */
  @Column({ name: 'input_hash', type: 'text', collation: 'C' })
  inputHash!: string;

  /** What called it, and its tags: by them it is found when the data of a subject is erased. */
  @Column({ name: 'parent_id', type: 'text', collation: 'C', nullable: true })
  parentId!: string | null;

  @Column({ type: 'text', array: true, nullable: true })
  tags!: string[] | null;
}
