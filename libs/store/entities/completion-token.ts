// The hash of a token with which a task may be completed from outside, tied to the fence of the task.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('completion_tokens')
export class CompletionTokenEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'completion_tokens_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'completion_tokens_pkey' })
  bucket!: number;

  /** SHA-256 of the token, hex. */
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'completion_tokens_pkey' })
  hash!: string;

  @Column({ type: 'bigint' })
  fence!: string;
}
