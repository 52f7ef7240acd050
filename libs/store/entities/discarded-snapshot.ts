// A state outside the database that no run needs any more, until a worker has removed it from the snapshot store.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('discarded_snapshots')
@Index('discarded_snapshots_retry', ['retryAt'])
export class DiscardedSnapshotEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'discarded_snapshots_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'discarded_snapshots_pkey' })
  bucket!: number;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'discarded_snapshots_pkey' })
  ref!: string;

  /** Not before this time: later than it was discarded if the store has failed to remove it. */
  @Column({ name: 'retry_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  retryAt!: Date;
}
