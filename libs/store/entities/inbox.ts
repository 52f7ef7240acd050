// Events that a run has not consumed yet, in the order in which they were written.

import { Column, Entity, PrimaryColumn } from 'typeorm';

export type InboxKind = 'completed' | 'failed' | 'timer' | 'timeout' | 'cancel';

@Entity('inbox')
export class InboxEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'inbox_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'inbox_pkey' })
  bucket!: number;

  /** From `event_seq`, which signals share: one order for everything that happens to a run. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'inbox_pkey' })
  seq!: string;

  @Column({ type: 'text' })
  kind!: InboxKind;

  /** The durable call that the event belongs to; 0 for `cancel`. */
  @Column({ type: 'integer' })
  call!: number;

  /** Verbatim: the VM reads it. A value, or the data of an error. */
  @Column({ type: 'json', nullable: true })
  payload!: unknown;
}
