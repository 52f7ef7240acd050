// A step that ended in the turn that consumed its result: it had no row while it ran.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('steps')
export class StepEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'steps_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'steps_pkey' })
  bucket!: number;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'steps_pkey' })
  call!: number;

  /** The turns of the run that started it and that consumed its result. */
  @Column({ name: 'started_turn', type: 'integer' })
  startedTurn!: number;

  @Column({ name: 'consumed_turn', type: 'integer' })
  consumedTurn!: number;

  /** The task. */
  @Column({ type: 'text' })
  name!: string;

  /** JSON text, as it was written. */
  @Column({ type: 'text', nullable: true })
  input!: string | null;

  @Column({ type: 'text', nullable: true })
  output!: string | null;

  @Column({ name: 'started_at', type: 'timestamptz' })
  startedAt!: Date;

  @Column({ name: 'finished_at', type: 'timestamptz' })
  finishedAt!: Date;

  @Column({ name: 'worker_id', type: 'text' })
  workerId!: string;

  /** Its queue, its priority and its options, when they are not the usual ones. */
  @Column({ type: 'jsonb', nullable: true })
  unusual!: unknown;
}
