// A hint when to wake a workflow that waits for many calls at once; replaced by every turn commit.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('resume_groups')
export class ResumeGroupEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'resume_groups_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'resume_groups_pkey' })
  bucket!: number;

  @PrimaryColumn({ name: 'group_no', type: 'bigint', primaryKeyConstraintName: 'resume_groups_pkey' })
  groupNo!: string;

  /** `all` closes on the first failure, `settled` when every member has ended. */
  @Column({ type: 'text' })
  until!: 'all' | 'settled';

  /** Members that have not ended; the run is woken when it reaches 0. */
  @Column({ type: 'integer' })
  remaining!: number;

  /** Numbers of the durable calls; ranges, because a fan-out numbers them in a row. */
  @Column({ type: 'int4multirange' })
  members!: string;
}
