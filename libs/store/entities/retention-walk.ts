// How far a walk of retention over one table has come, so that any worker can go on with it.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('retention_walks')
export class RetentionWalkEntity {
  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'retention_walks_pkey' })
  name!: string;

  @Column({ name: 'started_at', type: 'timestamptz' })
  startedAt!: Date;

  /** The last row that was looked at; both null when the walk has been to the end. */
  @Column({ name: 'place_at', type: 'timestamptz', nullable: true })
  placeAt!: Date | null;

  @Column({ name: 'place_id', type: 'text', collation: 'C', nullable: true })
  placeId!: string | null;
}
