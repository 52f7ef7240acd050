// What a worker took in one claim: written once, deleted when its last item ends. Recovery reads what to give back; it fences nothing.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('claims')
export class ClaimEntity {
  @PrimaryColumn({ name: 'worker_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'claims_pkey' })
  workerId!: string;

  /** Chosen by the worker before it claims, so that it can find a claim whose reply was lost. */
  @PrimaryColumn({ name: 'claim_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'claims_pkey' })
  claimId!: string;

  @Column({ name: 'claimed_at', type: 'timestamptz', default: () => 'rhythm.clock()' })
  claimedAt!: Date;

  @Column({ type: 'text', array: true, collation: 'C' })
  ids!: string[];

  @Column({ type: 'smallint', array: true })
  buckets!: number[];

  @Column({ type: 'bigint', array: true })
  fences!: string[];
}
