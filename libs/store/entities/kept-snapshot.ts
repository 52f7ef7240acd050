// A state that a run had after one of its last turns, when states are kept.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('snapshots')
export class KeptSnapshotEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'snapshots_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'snapshots_pkey' })
  bucket!: number;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'snapshots_pkey' })
  turn!: number;

  @Column({ name: 'stored_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  storedAt!: Date;

  /** Of the program that it belongs to. */
  @Column({ type: 'text', nullable: true })
  fingerprint!: string | null;

  /** `json`, not `jsonb`: verbatim. Null when it is stored outside the row. */
  @Column({ type: 'json', nullable: true })
  state!: unknown;

  /** Where a `SnapshotStore` keeps it. */
  @Column({ name: 'state_ref', type: 'text', nullable: true })
  stateRef!: string | null;

  /** The durable calls that it waits for, with their inputs and options. */
  @Column({ name: 'pending_calls', type: 'json' })
  pendingCalls!: unknown;
}
