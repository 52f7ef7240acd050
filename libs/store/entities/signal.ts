// A signal sent to a run, kept until a wait takes it; one with a key is kept until the run ends, so that duplicates are recognized.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('signals')
@Index('signals_unread', ['executionId', 'bucket', 'seq'], { where: 'consumed_at IS NULL' })
@Index('signals_key', ['executionId', 'bucket', 'dedupeKey'], { unique: true, where: 'dedupe_key IS NOT NULL' })
export class SignalEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'signals_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'signals_pkey' })
  bucket!: number;

  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'signals_pkey' })
  seq!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'json', nullable: true })
  payload!: unknown;

  @Column({ name: 'dedupe_key', type: 'text', collation: 'C', nullable: true })
  dedupeKey!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  createdAt!: Date;

  @Column({ name: 'consumed_at', type: 'timestamptz', nullable: true })
  consumedAt!: Date | null;
}
