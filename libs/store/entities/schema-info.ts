// One row: the version of the schema, and the oldest code that may use it.

import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('schema_info')
export class SchemaInfoEntity {
  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'schema_info_pkey' })
  id!: number;

  @Column({ type: 'integer' })
  version!: number;

  /** The lowest schema version that code must have been written for. Raised by a migration that takes something away. */
  @Column({ name: 'min_code_version', type: 'integer' })
  minCodeVersion!: number;
}
