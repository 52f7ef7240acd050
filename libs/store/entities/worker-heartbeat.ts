// A worker that is alive: one row, updated every few seconds, deleted when the worker stops or is declared dead. In real time.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('worker_heartbeats')
export class WorkerHeartbeatEntity {
  /** New at every boot. */
  @PrimaryColumn({ name: 'worker_id', type: 'text', collation: 'C', primaryKeyConstraintName: 'worker_heartbeats_pkey' })
  workerId!: string;

  @Column({ type: 'text' })
  host!: string;

  @Column({ type: 'integer' })
  pid!: number;

  @Column({ type: 'text', array: true })
  queues!: string[];

  /** The names of the tasks it can run. */
  @Column({ type: 'text', array: true })
  tasks!: string[];

  @Column({ type: 'integer' })
  concurrency!: number;

  @Column({ name: 'code_version', type: 'text' })
  codeVersion!: string;

  @Column({ name: 'started_at', type: 'timestamptz', default: () => 'now()' })
  startedAt!: Date;

  @Column({ name: 'beat_at', type: 'timestamptz', default: () => 'now()' })
  beatAt!: Date;

  /** The number of heartbeats: sweepers compare it, so that no clock matters. */
  @Column({ type: 'bigint', default: 0 })
  beats!: string;
}
