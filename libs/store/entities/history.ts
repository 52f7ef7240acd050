// What happened to a run besides its steps: log lines, failed attempts, recoveries, pauses. Bounded per run.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('history')
export class HistoryEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'history_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'history_pkey' })
  bucket!: number;

  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'history_pkey' })
  seq!: string;

  @Column({ type: 'timestamptz', default: () => 'rhythm.clock()' })
  at!: Date;

  @Column({ type: 'text' })
  kind!: string;

  @Column({ name: 'worker_id', type: 'text', nullable: true })
  workerId!: string | null;

  @Column({ type: 'jsonb', nullable: true })
  detail!: unknown;
}
