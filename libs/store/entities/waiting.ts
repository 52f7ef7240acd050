// What a suspended execution waits for, at one place of its source.

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('waiting')
@Index('waiting_names', ['kind', 'name', 'createdAt', 'executionId'])
@Index('waiting_kinds', ['kind', 'createdAt', 'executionId'], { where: 'first_of_kind' })
@Index('waiting_places', ['workflow', 'version', 'kind', 'name', 'line', 'function', 'firstOfKind', 'place'])
export class WaitingEntity {
  @PrimaryColumn({ name: 'execution_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'waiting_pkey' })
  executionId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'waiting_pkey' })
  bucket!: number;

  /** The turn that suspended it. */
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'waiting_pkey' })
  turn!: number;

  /** From 0, in the order of the calls; every suspended execution that no worker holds has a row 0. */
  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'waiting_pkey' })
  place!: number;

  /** Of the execution: lists are in this order. */
  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** `signal`, `timer`, `task`, `child`; `worker`: it was resumed or retried and waits for its turn; `completion`: a task that was handed over. */
  @Column({ type: 'text', collation: 'C' })
  kind!: string;

  /** Long names are cut and marked with their hash (`waitName`). */
  @Column({ type: 'text', collation: 'C' })
  name!: string;

  /** The first row of its execution with this kind. */
  @Column({ name: 'first_of_kind', type: 'boolean' })
  firstOfKind!: boolean;

  @Column({ type: 'text', collation: 'C' })
  workflow!: string;

  @Column({ type: 'text', collation: 'C', nullable: true })
  version!: string | null;

  /** Of its source; null when no function awaits the call directly. */
  @Column({ type: 'integer', nullable: true })
  line!: number | null;

  @Column({ type: 'text', collation: 'C', nullable: true })
  function!: string | null;

  /** How many calls wait for the same at this place. */
  @Column({ type: 'integer' })
  calls!: number;
}
