// `RhythmModule.forRootAsync()` in an application: options from a function, from a class of its own, and from an existing provider.

import { describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  ExecutionService,
  RhythmModule,
  type RhythmModuleAsyncOptions,
  type RhythmModuleOptions,
  type RhythmOptionsFactory,
} from '../../src/index.js';
import { useTestDatabase } from '../support/index.js';
import { quickOptions, SILENT } from './start-app.js';

const FLOW_SOURCE = Symbol('flow source');

describe('options made at boot', () => {
  const database = useTestDatabase();

  @Injectable()
  class Options implements RhythmOptionsFactory {
    constructor(@Inject(FLOW_SOURCE) private readonly source: string) {}

    async createRhythmOptions(): Promise<RhythmModuleOptions> {
      return quickOptions(database, { flows: [{ name: 'echo', source: this.source }] });
    }
  }

  @Module({ providers: [{ provide: FLOW_SOURCE, useValue: 'return Inputs' }, Options], exports: [FLOW_SOURCE, Options] })
  class OptionsModule {}

  const imports = [OptionsModule];
  it.each<[string, RhythmModuleAsyncOptions]>([
    ['useFactory', { imports, inject: [Options], useFactory: (options: Options) => options.createRhythmOptions() }],
    ['useClass', { imports, useClass: Options }],
    ['useExisting', { imports, useExisting: Options }],
  ])('come from %s', async (_, options) => {
    const module = await Test.createTestingModule({ imports: [RhythmModule.forRootAsync(options)] })
      .setLogger(SILENT)
      .compile();
    const app = await module.init();
    const executions = app.get(ExecutionService);
    const { id } = await executions.start('echo', 'made');
    expect(await executions.result(id, { timeout: '10s' })).toBe('made');
    await app.close();
  });

  it('have exactly one source', () => {
    expect(() => RhythmModule.forRootAsync({})).toThrow(
      /does not say how to make the options\. Give one of useFactory, useClass, useExisting/,
    );
    expect(() => RhythmModule.forRootAsync({ useClass: Options, useExisting: Options })).toThrow(
      /has useClass and useExisting\. Give one of/,
    );
    expect(() => RhythmModule.forRootAsync({ useFactry: () => ({}) } as never)).toThrow(/Did you mean "useFactory"/);
  });
});
