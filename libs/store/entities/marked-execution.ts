// The executions people look for by status (failed, cancelled, paused), in a table of their own so that completion stays a HOT update.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('marked_executions')
@Index('marked_executions_status', ['status', 'markedAt'])
export class MarkedExecutionEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'marked_executions_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'marked_executions_pkey' })
  bucket!: number;

  @Column({ type: 'text' })
  status!: 'failed' | 'cancelled' | 'paused';

  @Column({ name: 'marked_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  markedAt!: Date;
}
