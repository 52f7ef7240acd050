// The app's own DataSource, in which transactional tasks write: found at boot, and checked to be the same database.

import { Inject, Injectable, type InjectionToken } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { isSameDatabase, readIdentity } from '../../libs/store/index.js';
import { DatabaseHost } from '../database/database.host.js';
import { ConfigurationError } from '../errors.js';
import { RHYTHM_OPTIONS, type RhythmModuleOptions } from '../module-options.js';
import type { TaskRegistry } from '../tasks/task.registry.js';

/** Finds and checks the app's DataSource. */
@Injectable()
export class AppDataSourceFinder {
  constructor(
    @Inject(RHYTHM_OPTIONS) private readonly options: RhythmModuleOptions,
    private readonly database: DatabaseHost,
    private readonly modules: ModuleRef,
  ) {}

  /** The DataSource, if the app has one. */
  find(): DataSource | undefined {
    const { dataSource } = this.options;
    if (isDataSource(dataSource)) return dataSource;
    const token: InjectionToken = dataSource ?? DataSource;
    try {
      return this.modules.get<DataSource>(token as string, { strict: false });
    } catch {
      if (dataSource === undefined) return undefined;
      throw new ConfigurationError(
        `The option dataSource names the token ${String(dataSource)}, which no module provides.`,
        'RHYTHM_DATA_SOURCE_MISSING',
      );
    }
  }

  /** Throws when a transactional task could not commit together with its result. */
  async check(tasks: TaskRegistry): Promise<void> {
    const transactional = tasks.all().filter((task) => task.policy.transactional);
    if (transactional.length === 0) return;
    const places = transactional.map((task) => task.place).join(', ');
    const source = this.find();
    if (!source) {
      throw new ConfigurationError(
        `Transactional tasks (${places}) need the app's own TypeORM DataSource, and the app has none. Import TypeOrmModule.forRoot(…) of @nestjs/typeorm, or pass RhythmModule.forRoot({ dataSource }).`,
        'RHYTHM_DATA_SOURCE_MISSING',
      );
    }
    const appDatabase = await readIdentity({ rows: ({ text }) => source.query(text) });
    const rhythmDatabase = await readIdentity(this.database.store.db);
    if (!isSameDatabase(appDatabase, rhythmDatabase)) {
      throw new ConfigurationError(
        `Transactional tasks (${places}) need the app's DataSource to be on the same database as Rhythm. The app uses "${appDatabase.name}" and Rhythm "${rhythmDatabase.name}"; if the names are equal, the servers differ.`,
        'RHYTHM_DATA_SOURCE_FOREIGN',
      );
    }
  }

  /**
   * Throws when the app's tables would be mixed with Rhythm's. A role with the name of Rhythm's schema finds that schema first
   * (search_path is "$user", public): TypeORM would make the app's tables there, or change Rhythm's tables of the same names.
   */
  async checkSchema(): Promise<void> {
    const source = this.find();
    if (!source?.isInitialized || source.options.type !== 'postgres') return;
    const { schema } = this.database.store;
    const given = source.options.schema;
    const [{ own }] = given === undefined ? await source.query<{ own: string }[]>('SELECT current_schema() AS own') : [{ own: given }];
    if (own !== schema) return;
    const rhythmDatabase = await readIdentity(this.database.store.db);
    if (!isSameDatabase(await readIdentity({ rows: ({ text }) => source.query(text) }), rhythmDatabase)) return;
    throw new ConfigurationError(
      `The app's DataSource makes its tables in schema "${schema}", which holds Rhythm's tables. Give the DataSource another one ({ schema: 'public' }), or Rhythm ({ database: { schema: '…' } }). A role that is called "${schema}" finds the schema of its own name before all others.`,
      'RHYTHM_DATA_SOURCE_SCHEMA',
    );
  }
}

// Checked by shape: the app may have its own copy of TypeORM.
function isDataSource(value: unknown): value is DataSource {
  return typeof value === 'object' && value !== null && 'createQueryRunner' in value;
}
