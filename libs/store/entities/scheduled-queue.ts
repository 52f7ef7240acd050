// What becomes runnable later: timers, retries, timeouts, delayed starts.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * `run`: put the execution into the queue. `timer`, `timeout`: an event for a durable call of a workflow.
 * `deadline`: the total timeout. `start`: the start timeout. `grace`: the time limit of the clean-up after a cancel.
 * `wake`: a signal came for an id that was not visible; check again whether it exists.
 */
export type ScheduledKind = 'run' | 'timer' | 'timeout' | 'deadline' | 'start' | 'grace' | 'wake';

@Entity('scheduled_queue')
@Index('scheduled_queue_runs', ['dueAt'], { where: `kind = 'run'` })
@Index('scheduled_queue_timers', ['dueAt'], { where: `kind = ANY('{timer,timeout,wake}'::text[])` })
@Index('scheduled_queue_limits', ['dueAt'], { where: `kind = ANY('{deadline,start,grace}'::text[])` })
export class ScheduledQueueEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'scheduled_queue_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'scheduled_queue_pkey' })
  bucket!: number;

  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'scheduled_queue_pkey' })
  kind!: ScheduledKind;

  /** The durable call of the workflow; 0 where there is none. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'scheduled_queue_pkey' })
  call!: string;

  @Column({ name: 'due_at', type: 'timestamptz' })
  dueAt!: Date;

  /** For `run`: the fence that the queue row will carry. */
  @Column({ type: 'bigint', nullable: true })
  fence!: string | null;
}
