// What is runnable now: narrow, short-lived rows in the order in which they are claimed.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('work_queue')
export class WorkQueueEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'work_queue_pkey' })
  queue!: string;

  /** Empty for work that every worker of the queue may take; `t:<task>` for workers that have the task. */
  @PrimaryColumn({ type: 'text', collation: 'C', default: '', primaryKeyConstraintName: 'work_queue_pkey' })
  lane!: string;

  /** The negative priority, so that the one index is read forwards: high priority first, then age. */
  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'work_queue_pkey' })
  rank!: number;

  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'work_queue_pkey' })
  seq!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'work_queue_pkey' })
  bucket!: number;

  @Column({ name: 'execution_id', type: 'text', collation: 'C' })
  executionId!: string;

  /**
   * Set when the row means "run this task": it counts only while the task is still at this fence.
   * Null means "read your events" (workflows always, tasks when they are cancelled).
   */
  @Column({ type: 'bigint', nullable: true })
  fence!: string | null;
}
